package standalone

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	fakeclient "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"software.sslmate.com/src/go-pkcs12"

	"github.com/sluice-kafka/sluice/internal/kafka"
	"github.com/sluice-kafka/sluice/internal/options"
)

// party is a certificate with its key.
type party struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newParty(t *testing.T, name string) party {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return party{certificate, key}
}

func (p party) pem() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.certificate.Raw}))
}

func (p party) keyPEM(t *testing.T) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(p.key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// known are the names of the CAs that are trusted, and of the client's own certificates.
func known(t *testing.T, s kafka.Security) string {
	t.Helper()
	if s.TLS == nil {
		return "nothing is encrypted"
	}
	names := namesIn(t, s.TLS.CA)
	if own := namesIn(t, s.TLS.Certificate); len(own) > 0 {
		names = append(append(names, "own:"), own...)
	}
	return strings.Join(names, " ")
}

func namesIn(t *testing.T, bundle []byte) []string {
	t.Helper()
	var names []string
	for block, rest := pem.Decode(bundle); block != nil; block, rest = pem.Decode(rest) {
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, certificate.Subject.CommonName)
	}
	return names
}

func TestWhatIsNeededToConnectIsFoundWhereStrimziHasIt(t *testing.T) {
	ca, other, own := newParty(t, "ca"), newParty(t, "other"), newParty(t, "me")
	trusted, err := pkcs12.Modern.EncodeTrustStore([]*x509.Certificate{ca.certificate, other.certificate}, "letmein")
	if err != nil {
		t.Fatal(err)
	}
	keys, err := pkcs12.Modern.Encode(own.key, own.certificate, []*x509.Certificate{ca.certificate}, "letmein")
	if err != nil {
		t.Fatal(err)
	}
	mounted := map[string]string{
		"/etc/cluster-ca-certs/ca.crt": ca.pem(), "/etc/cluster-ca-certs/ca-old.crt": other.pem(), "/etc/cluster-ca-certs/ca.password": "x",
		"/etc/eto-certs/entity-operator.crt": own.pem(), "/etc/eto-certs/entity-operator.key": own.keyPEM(t),
		"/t.p12": string(trusted), "/k.p12": string(keys), "/old.jks": "\xfe\xed\xfe\xed\x00", "/junk.p12": "junk",
	}
	secrets := []client.Object{
		secretOf("ca", map[string]string{"ca.crt": ca.pem(), "ca.p12": "x", "ca-old.crt": other.pem()}),
		secretOf("me", map[string]string{"my.crt": own.pem(), "my.key": own.keyPEM(t)}),
		secretOf("none", map[string]string{"ca.p12": "x"}),
		secretOf("blank", map[string]string{"ca.crt": "\n"}),
	}
	at := func(name string) options.Secret { return options.Secret{Namespace: "kafka", Name: name} }
	store := func(path string, password kafka.Secret) options.Store {
		return options.Store{Path: path, Password: password}
	}
	tests := map[string]struct {
		login options.TopicOnlyLogin
		// bare has no mounted certificates.
		bare bool
		want string
		// wantErr is a part of the message; early tells that it comes before the start.
		wantErr string
		early   bool
	}{
		"nothing without TLS":                  {login: options.TopicOnlyLogin{TrustSecret: at("gone")}, want: "nothing is encrypted"},
		"mounted files":                        {login: options.TopicOnlyLogin{TLS: true}, want: "other ca own: me"},
		"mounted CAs alone":                    {login: options.TopicOnlyLogin{TLS: true, WithoutCertificate: true}, want: "other ca"},
		"nothing mounted":                      {login: options.TopicOnlyLogin{TLS: true}, bare: true, want: ""},
		"a certificate needed but not mounted": {login: options.TopicOnlyLogin{TLS: true, NeedsCertificate: true}, bare: true, wantErr: "/etc/eto-certs/entity-operator.crt"},
		"the system's CAs":                     {login: options.TopicOnlyLogin{TLS: true, SystemCA: true, WithoutCertificate: true}, want: ""},
		"stores":                               {login: options.TopicOnlyLogin{TLS: true, TrustStore: store("/t.p12", "letmein"), KeyStore: store("/k.p12", "letmein")}, want: "ca other own: me ca"},
		"Secrets": {
			login: options.TopicOnlyLogin{TLS: true, TrustSecret: at("ca"), KeySecret: at("me"), CertificateKey: "my.crt", KeyKey: "my.key"},
			want:  "other ca own: me",
		},
		"a Secret that is missing":                 {login: options.TopicOnlyLogin{TLS: true, TrustSecret: at("gone")}, wantErr: "kafka/gone"},
		"a Secret without a CA":                    {login: options.TopicOnlyLogin{TLS: true, TrustSecret: at("none")}, wantErr: "has no CA"},
		"a Secret whose CA is yet to be filled in": {login: options.TopicOnlyLogin{TLS: true, TrustSecret: at("blank")}, wantErr: "has no CA"},
		"a Secret without the key":                 {login: options.TopicOnlyLogin{TLS: true, KeySecret: at("me"), CertificateKey: "my.crt", KeyKey: "no.key"}, wantErr: `"no.key"`},
		"a wrong password":                         {login: options.TopicOnlyLogin{TLS: true, TrustStore: store("/t.p12", "guess")}, wantErr: "/t.p12 is not opened by the password", early: true},
		"a file that is no store":                  {login: options.TopicOnlyLogin{TLS: true, KeyStore: store("/junk.p12", "letmein")}, wantErr: "/junk.p12 must be a PKCS #12 file", early: true},
		"a store of Java's own":                    {login: options.TopicOnlyLogin{TLS: true, TrustStore: store("/old.jks", "letmein")}, wantErr: "keytool -importkeystore", early: true},
		"a file that is missing":                   {login: options.TopicOnlyLogin{TLS: true, KeyStore: store("/gone.p12", "letmein")}, wantErr: "/gone.p12", early: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			tc.login.Data = options.Settings{"security.protocol": "PLAINTEXT"}
			if tc.login.TLS {
				tc.login.Data["security.protocol"] = "SSL"
			}
			l := &login{TopicOnlyLogin: tc.login, secrets: fakeclient.NewClientBuilder().WithObjects(secrets...).Build(), root: t.TempDir()}
			for path, content := range mounted {
				if !tc.bare || !strings.HasPrefix(path, "/etc/") {
					write(t, filepath.Join(l.root, path), content)
				}
			}
			if err := l.files(); (err != nil) != tc.early {
				t.Errorf("before the start: %v", err)
			}
			got, err := l.security(t.Context())
			if (err != nil) != (tc.wantErr != "") || err != nil && !strings.Contains(err.Error(), tc.wantErr) {
				t.Fatalf("error %v, want one that says %q", err, tc.wantErr)
			}
			if err != nil {
				if strings.Contains(err.Error(), "letmein") {
					t.Errorf("a password is shown: %v", err)
				}
				return
			}
			if found := known(t, got); found != tc.want {
				t.Errorf("found %q, want %q", found, tc.want)
			}
		})
	}
}

// A kubelet replaces the files of a mounted Secret; stores may be replaced likewise.
func TestFilesAreReadAnew(t *testing.T) {
	l := &login{TopicOnlyLogin: options.TopicOnlyLogin{TLS: true, Data: options.Settings{"security.protocol": "SSL"}}, root: t.TempDir()}
	for _, name := range []string{"first", "second"} {
		write(t, filepath.Join(l.root, brokerCAs, "ca.crt"), newParty(t, name).pem())
		got, err := l.security(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if found := known(t, got); found != name {
			t.Errorf("found %q, want %q", found, name)
		}
	}
}

func TestMountedCAsThatAreYetToBeFilledInAreNone(t *testing.T) {
	l := &login{TopicOnlyLogin: options.TopicOnlyLogin{TLS: true, Data: options.Settings{"security.protocol": "SSL"}}, root: t.TempDir()}
	write(t, filepath.Join(l.root, brokerCAs, "ca.crt"), "\n")
	if _, err := l.security(t.Context()); err == nil || !strings.Contains(err.Error(), brokerCAs) {
		t.Errorf("error %v, want one that says where the CA is missing", err)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func secretOf(name string, data map[string]string) *corev1.Secret {
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "kafka", Name: name}, Data: map[string][]byte{}}
	for key, value := range data {
		s.Data[key] = []byte(value)
	}
	return s
}
