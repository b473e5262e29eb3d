// Package templating expands templated volumes for one node. It is pure: the
// cluster controller, the pod webhook and the validation rules share it.
package templating
