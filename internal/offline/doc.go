// Package offline judges manifests in files as the admission webhook judges
// requests, by the same rules. It reads files into a set of objects, takes from
// the set what the rules need to know of other objects, and reports findings
// with the line of the field that they are about.
package offline
