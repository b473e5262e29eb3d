package metrics

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
)

func TestGuard(t *testing.T) {
	known := authenticationv1.TokenReviewStatus{Authenticated: true, User: authenticationv1.UserInfo{
		Username: "scraper", UID: "7", Groups: []string{"g"}, Extra: map[string]authenticationv1.ExtraValue{"k": {"v"}},
	}}
	down := errors.New("down")
	tests := map[string]struct {
		header   string
		who      authenticationv1.TokenReviewStatus
		whoErr   error
		allowed  authorizationv1.SubjectAccessReviewStatus
		allowErr error
		want     int
	}{
		"no header":                       {"", known, nil, authorizationv1.SubjectAccessReviewStatus{Allowed: true}, nil, 401},
		"another scheme":                  {"Basic dTpw", known, nil, authorizationv1.SubjectAccessReviewStatus{Allowed: true}, nil, 401},
		"an empty token":                  {"Bearer  ", known, nil, authorizationv1.SubjectAccessReviewStatus{Allowed: true}, nil, 401},
		"a token that is not known":       {"Bearer t", authenticationv1.TokenReviewStatus{Error: "no"}, nil, authorizationv1.SubjectAccessReviewStatus{Allowed: true}, nil, 401},
		"nobody to ask who it is":         {"Bearer t", authenticationv1.TokenReviewStatus{}, down, authorizationv1.SubjectAccessReviewStatus{Allowed: true}, nil, 503},
		"nobody to ask what is allowed":   {"Bearer t", known, nil, authorizationv1.SubjectAccessReviewStatus{}, down, 503},
		"not allowed":                     {"Bearer t", known, nil, authorizationv1.SubjectAccessReviewStatus{}, nil, 403},
		"allowed by one, denied by other": {"Bearer t", known, nil, authorizationv1.SubjectAccessReviewStatus{Allowed: true, Denied: true}, nil, 403},
		"allowed":                         {"Bearer t", known, nil, authorizationv1.SubjectAccessReviewStatus{Allowed: true}, nil, 200},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var asked authorizationv1.SubjectAccessReviewSpec
			g := guard{
				identify: func(_ context.Context, token string) (authenticationv1.TokenReviewStatus, error) {
					if token != "t" {
						t.Errorf("asked about the token %q", token)
					}
					return tc.who, tc.whoErr
				},
				allow: func(_ context.Context, spec authorizationv1.SubjectAccessReviewSpec) (authorizationv1.SubjectAccessReviewStatus, error) {
					asked = spec
					return tc.allowed, tc.allowErr
				},
			}
			passed := false
			h := g.protect(logr.Discard(), http.HandlerFunc(func(http.ResponseWriter, *http.Request) { passed = true }))
			req := httptest.NewRequest(http.MethodPost, "/debug/resync?x=y", nil)
			if tc.header != "" {
				req.Header.Set("Authorization", tc.header)
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, req)
			if w.Code != tc.want || passed != (tc.want == 200) {
				t.Fatalf("answered %d, passed on %v, want %d", w.Code, passed, tc.want)
			}
			if tc.want != 200 {
				return
			}
			want := authorizationv1.SubjectAccessReviewSpec{
				NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: "/debug/resync", Verb: "post"},
				User:                  "scraper", UID: "7", Groups: []string{"g"}, Extra: map[string]authorizationv1.ExtraValue{"k": {"v"}},
			}
			if diff := cmp.Diff(want, asked); diff != "" {
				t.Errorf("asked, -want +got:\n%s", diff)
			}
		})
	}
}
