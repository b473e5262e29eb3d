package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/sluice-kafka/sluice/internal/configdef"
	"github.com/sluice-kafka/sluice/internal/livecluster"
	"github.com/sluice-kafka/sluice/internal/offline"
	"github.com/sluice-kafka/sluice/internal/validation"
)

const validateName = "validate"

// errRefused is the outcome where something is refused.
var errRefused = errors.New("something is refused")

type validateOptions struct {
	files, old  []string
	recursive   bool
	namespace   string
	kubeconfig  string
	kubeContext string
	output      string
	rules       validation.Options
}

func newValidateCommand() *cobra.Command {
	var opts validateOptions
	cmd := &cobra.Command{
		Use:   validateName + " -f FILE|DIR|-",
		Short: "Judge manifests in files as the webhooks would",
		Long: "Judges manifests by the rules of the admission webhooks, together: topics that claim one name, or\n" +
			"pools that do not fit their Kafka, are found too. Prints FILE:LINE: error|warning: KIND/NAME: PATH: why\n" +
			"and what to write instead. Exits with 0 if nothing is refused, with 1 if something is, and with 2 if\n" +
			"it could not run. No cluster is needed; --kube-context also looks at what is there.",
		Example: "  sluice validate -R -f topics/\n" +
			"  helm template my-release my-chart | sluice validate -f -\n" +
			"  sluice validate -f new/ --old old/\n" +
			"  sluice validate -R -f . -o github",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return validate(cmd, opts)
		},
	}
	f := cmd.Flags()
	f.StringArrayVarP(&opts.files, "filename", "f", nil, "file or folder to judge, or - for the standard input; may be repeated")
	f.BoolVarP(&opts.recursive, "recursive", "R", false, "look into the subfolders of folders too")
	f.StringArrayVar(&opts.old, "old", nil, "file or folder with the objects as they were: judge those of the same name as updates; may be repeated")
	f.StringVarP(&opts.namespace, "namespace", "n", "", "namespace of objects that name none (default: that of --kube-context)")
	f.StringVar(&opts.kubeContext, "kube-context", "", "context of the kubeconfig: look at the live objects too, and judge as updates of them where no --old is given")
	f.StringVar(&opts.kubeconfig, "kubeconfig", "", "kubeconfig file for --kube-context (default: $KUBECONFIG, else ~/.kube/config)")
	f.StringVar(&opts.rules.KafkaVersion, "kafka-version", "", "version of Kafka whose options count where no Kafka resource tells: "+
		strings.Join(configdef.Versions(), ", ")+" (default: what any of these accepts)")
	f.BoolVar(&opts.rules.StrictConfig, "strict-config", false, "refuse options that are ignored or make writes fail, instead of warning of them")
	f.StringVarP(&opts.output, "output", "o", offline.FormatText, "format of the report: "+strings.Join(offline.Formats, ", "))
	return cmd
}

func validate(cmd *cobra.Command, opts validateOptions) error {
	req, err := opts.request(cmd.InOrStdin())
	if err != nil {
		return err
	}
	bar := &progress{out: cmd.ErrOrStderr()}
	if isTerminal(cmd.ErrOrStderr()) {
		req.Progress = bar
	}
	report, runErr := offline.Run(cmd.Context(), req)
	bar.finish()
	if report == nil {
		return runErr
	}
	if err := report.Write(cmd.OutOrStdout(), opts.output); err != nil {
		return errors.Join(runErr, err)
	}
	fmt.Fprintln(cmd.ErrOrStderr(), report.Summary())
	if runErr == nil && report.Count(offline.Error) > 0 {
		return errRefused
	}
	return runErr
}

// request turns flags into what to judge, and says what is wrong with them.
func (o validateOptions) request(stdin io.Reader) (offline.Request, error) {
	req := offline.Request{Namespace: o.namespace, Rules: o.rules}
	if !slices.Contains(offline.Formats, o.output) {
		return req, fmt.Errorf("--output=%s: the formats are %s", o.output, strings.Join(offline.Formats, ", "))
	}
	if len(o.files) == 0 {
		return req, errors.New("--filename is missing: name a file or folder, or - for the standard input")
	}
	if v := o.rules.KafkaVersion; v != "" {
		if _, _, ok := configdef.ReleaseOf(v); !ok {
			return req, fmt.Errorf("--kafka-version=%s: the known versions are %s", v, strings.Join(configdef.Versions(), ", "))
		}
	}
	if o.kubeconfig != "" && o.kubeContext == "" {
		return req, errors.New("--kubeconfig is given without --kube-context: name the context to look at")
	}
	var err error
	if req.Files, err = list("--filename", o.files, o.recursive, stdin); err != nil {
		return req, err
	}
	if req.Old, err = list("--old", o.old, o.recursive, nil); err != nil {
		return req, err
	}
	if o.kubeContext != "" {
		cluster, namespace, err := livecluster.Open(o.kubeconfig, o.kubeContext)
		if err != nil {
			return req, err
		}
		req.Cluster = cluster
		if req.Namespace == "" {
			req.Namespace = namespace
		}
	}
	return req, nil
}

// list returns the files of what was given to a flag.
func list(flag string, names []string, recursive bool, stdin io.Reader) ([]offline.File, error) {
	var files []offline.File
	for _, name := range names {
		if name == offline.Stdin {
			if stdin == nil {
				return nil, fmt.Errorf("%s=-: the standard input is no place for it: name a file or folder", flag)
			}
			files = append(files, offline.OneFile(name, func() (io.ReadCloser, error) { return io.NopCloser(stdin), nil }))
			continue
		}
		info, err := os.Stat(name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", flag, err)
		}
		if !info.IsDir() {
			files = append(files, offline.OneFile(filepath.Clean(name), func() (io.ReadCloser, error) { return os.Open(name) }))
			continue
		}
		found, err := folder(name, recursive)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", flag, err)
		}
		files = append(files, found...)
	}
	return files, nil
}

func folder(name string, recursive bool) ([]offline.File, error) {
	files, err := offline.Folder(os.DirFS(name), recursive, func(below string) string {
		return filepath.Join(name, filepath.FromSlash(below))
	})
	if errors.Is(err, offline.ErrNoFiles) && !recursive && hasFolders(name) {
		return nil, fmt.Errorf("%w, and -R looks into subfolders too", err)
	}
	return files, err
}

func hasFolders(name string) bool {
	entries, err := os.ReadDir(name)
	return err == nil && slices.ContainsFunc(entries, fs.DirEntry.IsDir)
}

// isTerminal tells whether progress can be shown there.
func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// progress is a bar on a terminal.
type progress struct {
	out io.Writer
	bar *progressbar.ProgressBar
}

// Start implements offline.Progress.
func (p *progress) Start(steps int) {
	p.bar = progressbar.NewOptions(steps,
		progressbar.OptionSetWriter(p.out), progressbar.OptionSetDescription("Judging"),
		progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(), progressbar.OptionSetWidth(30))
}

// Step implements offline.Progress. The bar has a lock of its own; that a
// terminal cannot be written to stops nothing.
func (p *progress) Step() { _ = p.bar.Add(1) }

func (p *progress) finish() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
