package kafka

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestJAAS(t *testing.T) {
	tests := map[string]struct {
		text string
		want jaas
		bad  bool
	}{
		"as Strimzi's user operator writes it": {
			text: `org.apache.kafka.common.security.scram.ScramLoginModule required username="my-user" password="Ab1=;x";`,
			want: jaas{module: "ScramLoginModule", options: map[string]string{"username": "my-user", "password": "Ab1=;x"}},
		},
		"over several lines": {
			text: "org.apache.kafka.common.security.plain.PlainLoginModule required\n  username='a'\n\tpassword = \"b\" ;\n",
			want: jaas{module: "PlainLoginModule", options: map[string]string{"username": "a", "password": "b"}},
		},
		"quotes in quotes": {
			text: `x.PlainLoginModule required username="a \"b\" \\ 'c'" password='"';`,
			want: jaas{module: "PlainLoginModule", options: map[string]string{"username": `a "b" \ 'c'`, "password": `"`}},
		},
		"no options": {
			text: `software.amazon.msk.auth.iam.IAMLoginModule required;`,
			want: jaas{module: "IAMLoginModule", options: map[string]string{}},
		},
		"without quotes": {
			text: `OAuthBearerLoginModule required clientId=me clientSecret=it;`,
			want: jaas{module: "OAuthBearerLoginModule", options: map[string]string{"clientId": "me", "clientSecret": "it"}},
		},
		"no end":                 {text: `x.PlainLoginModule required username="a"`, bad: true},
		"a quote that is open":   {text: `x.PlainLoginModule required username="a;`, bad: true},
		"a name without a value": {text: `x.PlainLoginModule required username;`, bad: true},
		"a value without a name": {text: `x.PlainLoginModule required ="a";`, bad: true},
		"two entries":            {text: `x.PlainLoginModule required; x.PlainLoginModule required;`, bad: true},
		"no flag":                {text: `x.PlainLoginModule;`, bad: true},
		"another module":         {text: `com.sun.security.auth.module.Krb5LoginModule required;`, bad: true},
		"nothing but an end":     {text: `;`, bad: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := parseJAAS(test.text)
			if (err != nil) != test.bad {
				t.Fatalf("error %v", err)
			}
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(jaas{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
