// Package logging makes the one logger that everything in the process uses.
package logging

import (
	"fmt"
	"io"
	"os"

	"github.com/go-logr/logr"
	"github.com/go-logr/zapr"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/sluice-kafka/sluice/internal/options"
)

// New returns a logger that writes to out, one line an entry: JSON, or for the
// eyes where the format says so.
func New(opts options.Log, out io.Writer) (logr.Logger, error) {
	verbosity, err := options.ParseLevel(opts.Level)
	if err != nil {
		return logr.Discard(), fmt.Errorf("log level %q: %w", opts.Level, err)
	}
	config := zap.NewProductionEncoderConfig()
	config.EncodeTime = zapcore.RFC3339NanoTimeEncoder
	config.EncodeDuration = zapcore.StringDurationEncoder
	encoder := zapcore.NewJSONEncoder(config)
	if opts.Format == options.LogFormatConsole {
		encoder = zapcore.NewConsoleEncoder(config)
	}
	// zapr maps logr's V(n) to zap's level -n; zap's error level is 2, and its
	// warning level 1 has no counterpart in logr.
	level := zapcore.Level(-verbosity)
	if verbosity < 0 {
		level = zapcore.ErrorLevel
	}
	core := zapcore.NewCore(encoder, zapcore.Lock(zapcore.AddSync(out)), level)
	return zapr.NewLogger(zap.New(core, zap.ErrorOutput(zapcore.Lock(os.Stderr)))), nil
}
