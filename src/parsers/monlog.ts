import { ParseError } from '../core/errors.ts'
import { isObject, tryJson } from '../core/json.ts'
import { LIMITS } from '../core/limits.ts'
import { plainText } from '../core/redaction/redact.ts'
import { parseU64 } from '../core/units.ts'
import { packageVersionIn } from './version.ts'
import { plainLines } from './mpt.ts'

/**
 * Parses a report of the consensus log analyzer on the last 60 seconds, in either layout. Null is a value that the report
 * does not contain. Throws  a ParseError if the text is not a report.
 */
export const parseMonlogReport = (text: string) => {
  const lines = plainLines(text).map(withoutEmoji)
  const find = (pattern: RegExp): string | null => firstOf(lines, (line) => pattern.exec(line)?.[1])
  const recent = (what: string): bigint | null =>
    parseU64(find(new RegExp(`^Most recent ${what}: (\\d{1,20})$`)) ?? '') ?? null
  const sections = sectionsOf(lines)
  const report = {
    /** Null in the legacy layout. */
    toolVersion: find(/^MONLOG v(\d[\w.+-]*)/),
    network: find(/^Network: (\S+)$/),
    packageVersion: firstOf(lines, packageVersionOf),
    /** As reported by the RPC, like `Name/0.14.2`. */
    clientVersion: firstOf(lines, clientVersionOf),
    /** `none` can also mean that the tool has no permission to read the journal. */
    statesync: activity(lines, { name: 'StateSync', lines: sections.statesync }),
    blocksync: activity(lines, { name: 'BlockSync', lines: sections.blocksync }),
    round: recent('round'),
    epoch: recent('epoch'),
    block: recent('block'),
    committing: firstOf(lines, committingOf),
    /** The report's text on the node's group, like `Confirming group join!`. */
    raptorcast: find(/^RaptorCast: (?=.*\bgroup\b)(.+)$/),
  }
  if (Object.values(report).every((value) => value === null)) {
    throw new ParseError('the report on the consensus log', 'sentences like "Most recent …"', text)
  }
  return report
}

/** Emoji carry no information: the tick is before or after the sentence, and the same emoji marks two sections. */
const withoutEmoji = (line: string): string =>
  line.replaceAll(/(?:\p{Extended_Pictographic}|\u200D|\uFE0F)+/gu, ' ').trim()

const firstOf = <T>(lines: readonly string[], read: (line: string) => T | null | undefined): T | null => {
  for (const line of lines) {
    const value = read(line)
    if (value !== null && value !== undefined) return value
  }
  return null
}

const packageVersionOf = (line: string): string | null =>
  /^[a-z]i\s/.test(line) ? (packageVersionIn(line)?.version ?? null) : null

const clientVersionOf = (line: string): string | null => {
  const response = line.startsWith('{"jsonrpc"') ? tryJson(line) : null
  const result = isObject(response) ? response['result'] : null
  return typeof result === 'string' ? plainText(result, LIMITS.text.label) : null
}

/** The healthy sentence is contained in the unhealthy one. */
const committingOf = (line: string): boolean | null => {
  if (!/^Blocks\b/.test(line) || !/\bbeing committed\b/.test(line)) return null
  return !/\bnot\s+being committed\b/i.test(line)
}

interface Activity {
  readonly name: 'StateSync' | 'BlockSync'
  readonly lines: readonly string[]
}

/** Only the sentence for "no messages" is known; any other line in the section means activity. */
const activity = (report: readonly string[], { name, lines }: Activity): 'none' | 'present' | null => {
  if (report.includes(`No ${name} messages.`)) return 'none'
  return lines.some((line) => !/\boverrides detected\b/.test(line)) ? 'present' : null
}

const HEADING = /^[A-Z][A-Z ]+$/

/** The new layout has headings; in the legacy layout, dashes end the first and the second section. */
const sectionsOf = (lines: readonly string[]) => {
  const sections = { statesync: new Array<string>(), blocksync: new Array<string>() }
  let section: keyof typeof sections | null = null
  for (const line of lines) {
    if (HEADING.test(line)) {
      section = line.startsWith('STATE') ? 'statesync' : line.startsWith('BLOCK') ? 'blocksync' : null
    } else if (line === '---') {
      section = section === 'statesync' ? 'blocksync' : null
    } else if (line === 'Installed version:') {
      section = 'statesync'
    } else if (section && line !== '' && packageVersionOf(line) === null) {
      sections[section].push(line)
    }
  }
  return sections
}
