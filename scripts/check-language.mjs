// Rejects words that this project does not use, in code, comments, texts and documentation. EXCEPTIONS are files in
// which such a word is data; the patterns leave out words of other software.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** What not to write, and what to write instead. */
const WORDS = [
  [/maker's word|word before the names/, 'name prefix'],
  [/\bstruck out\b|\bstrikes? out\b|\bstriker\b/, 'redacted, redact'],
  [/asked for in a wrong way/, 'usage error'],
  [/sign of life|dead man(?!['’]s switch)/, "heartbeat, dead man's switch"],
  [/whole and private/, 'complete; readable only by its owner'],
  [/how it stands with/, 'status of'],
  [/maintenance is announced|announced maintenance/, 'a maintenance window is set'],
  [/\bmend(?:s|ed|ing)?\b/, 'fix, fixed'],
  [/\banew\b/, 'again, restarts'],
  [/\bbeside\b/, 'next to; in addition to'],
  [/\bbefall(?:s|en)?\b|\bbefell\b|\bfates\b/, 'scenario, happens; profiles'],
  [/\bprocessor time\b/, 'CPU time'],
  [/\brehearse|\ba rehearsal\b|\brehearsals\b/i, 'to simulate, simulation, demo'],
  [
    /\bwhoever\b|(?<!=|user |chown |although |')\bnobody\b(?!@)|\bsomebody\b/i,
    'name it: the agent, the node, the operator, the client',
  ],
  [/\bthe way out\b/, 'recovery path'],
  [/other graves/, 'burn addresses'],
  [/\bgone on with\b|\bgoes on\b|\bgo on\b/, 'resumes, continues'],
  [/\bback-fill/, 'backfill'],
  [/\bunasked\b|\basks nobody\b|\bunsaid\b/, 'a literal verb'],
  [/\bpicture of the node\b/, 'snapshot of the node'],
  [/\bwitness(?:es)?\b/i, 'source'],
  [/\btall(?:y|ies)\b/i, 'counter'],
  [/\bbarred\b/, 'denied, rejected'],
  [/\bnonsense\b/i, 'invalid'],
  [/\bunheard\b(?!-of)|\buntold\b|\btold\??: |'told'/, 'missing, unknown; origin, reported'],
  [/\bgoesOn\b|\bhasSpoken\b|\bgaveUpOn\b/, 'hasMore; hasEntries; timedOut'],
  [/\bmostUseless\b|\blacksNames\b|\bknowsOwn\b/, 'a name that states the fact'],
]

/** Files in which a word is a literal of other software, or data. */
const EXCEPTIONS = [
  /^test\/fixtures\//,
  /^networks\//,
  /^LICENSE$/,
  /^package-lock\.json$/,
  /^CHANGELOG\.md$/,
  /\.svg$/,
  /^scripts\/check-language\.mjs$/,
]

const files = execFileSync('git', ['ls-files'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => /\.(?:ts|mjs|md|yaml|yml|json|service|timer|sh|1)$/.test(file))
  .filter((file) => !EXCEPTIONS.some((pattern) => pattern.test(file)))

for (const file of files) {
  readFileSync(file, 'utf8')
    .split('\n')
    .forEach((line, index) => {
      for (const [pattern, instead] of WORDS) {
        const [found] = pattern.exec(line) ?? []
        if (found === undefined) continue
        process.exitCode = 1
        console.error(`${file}:${index + 1}: "${found}": write ${instead}`)
      }
    })
}
