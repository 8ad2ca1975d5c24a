/** Parses the output of `apt-cache policy` for one package; null if no package list has it, or there is no such package. */
export const parsePolicy = (text: string) => {
  const [installed, candidate] = ['Installed', 'Candidate'].map(
    (name) => new RegExp(`^ {2}${name}: (\\d\\S{0,100})$`, 'm').exec(text)?.[1],
  )
  // The newest is the first one. Each is followed by its sources: package lists, and the file of dpkg if it is installed.
  const versions = [...text.matchAll(/^(?: \*{3}| {4}) (\S+) -?\d+/gm)].map(([, version]) => version)
  const isListed = /^ {7,}-?\d+ (?!\S+\/dpkg\/status$)/m.test(text)
  if (installed === undefined || candidate === undefined || !isListed) return null
  return {
    /** What `apt-get install` would install. */
    candidate,
    isNewer: versions.indexOf(candidate) < versions.indexOf(installed),
    /** A newer version that a pin excludes. */
    excluded: versions.indexOf(candidate) > 0 ? versions[0] : undefined,
  }
}
