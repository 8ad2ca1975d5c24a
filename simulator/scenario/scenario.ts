import { readdir, readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { ConfigError, excerpt } from '../../src/core/errors.ts'
import { packageFile } from '../../src/core/package.ts'
import { closestMatch } from '../../src/core/suggest.ts'
import { parseDuration } from '../../src/core/units.ts'
import { consensusDirectives, roundDirectives } from '../consensus/consensus-log.ts'
import { logVolumeDirectives } from '../consensus/log-lines.ts'
import { statesyncDirectives } from '../consensus/statesync.ts'
import { executionDirectives } from '../execution.ts'
import { formatDirectives } from '../format-drift.ts'
import { hostDirectives } from '../host/host.ts'
import { injectedLineDirectives } from '../injected-lines.ts'
import { journalDirectives } from '../journal/journal.ts'
import { keyDirectives } from '../keystore/key-files.ts'
import { nativeDirectives } from '../native.ts'
import { rpcDirectives } from '../rpc/rpc.ts'
import { trafficDirectives } from '../rpc/traffic.ts'
import { stakingDirectives } from '../rpc/staking.ts'
import { cleanupDirectives } from '../services/units.ts'
import { panics, ROLES, serviceDirectives } from '../services/service.ts'
import { storageDirectives } from '../storage.ts'
import { toolFaultDirectives } from '../tools/tools.ts'
import { versionDirectives } from '../versions.ts'
import type { Directive } from './directives.ts'
import type { Step } from './timeline.ts'

/** Every kind of line that a scenario may contain. */
export const directives: readonly Directive[] = [
  ...consensusDirectives,
  ...rpcDirectives,
  ...trafficDirectives,
  ...stakingDirectives,
  ...panics,
  ...ROLES.flatMap(serviceDirectives),
  ...executionDirectives,
  ...storageDirectives,
  ...versionDirectives,
  ...keyDirectives,
  ...hostDirectives,
  ...toolFaultDirectives,
  ...formatDirectives,
  ...logVolumeDirectives,
  ...injectedLineDirectives,
  ...cleanupDirectives,
  ...journalDirectives,
  ...nativeDirectives,
  ...roundDirectives,
  ...statesyncDirectives,
]

export type Scenario = Readonly<ReturnType<typeof parseScenario>>

/**
 * Parses a scenario: comments after `#`, and lines `time subject verb [argument]` in order of time. Throws a
 * ConfigError, and nothing else, if the text is invalid.
 */
export const parseScenario = (name: string, text: string) => {
  const lines = text.split('\n').map((line) => line.trim())
  const steps: Step[] = []
  for (const [index, line] of lines.entries()) {
    if (line === '' || line.startsWith('#')) continue
    const complain = complaintAt(`${name}, line ${index + 1}`)
    const step = parseStep(line, complain)
    const before = steps.at(-1)
    if (before && before.afterMs > step.afterMs) {
      throw complain({ what: 'goes back in time', came: line, expected: `no earlier than "${before.text}"` })
    }
    steps.push(step)
  }
  return {
    name,
    /** The first comment of the file. */
    description: lines.find((line) => line.startsWith('#'))?.replace(/^#\s*/, '') ?? '',
    /** The failures of scenarios/failures.md that it simulates: `# Failure: F1, F10`. */
    failures: heading(lines, 'Failure')?.split(/[,\s]+/) ?? [],
    /** A PromQL expression that has no result until the failure can first be detected: `# Signal: …`. */
    signal: heading(lines, 'Signal'),
    /**
     * The conditions of `restart-window` that prevent a restart in its 60th second: `# Restart: epoch, network unknown`;
     * `fault` where a fault prevents the evaluation.
     */
    restart: heading(lines, 'Restart')?.split(/,\s*/) ?? [],
    /** The alerts of which one is the first cause of the diagnosis once the failure is detected: `# Cause: …`. */
    causes: heading(lines, 'Cause')?.split(/,\s*/) ?? [],
    steps,
  }
}

const heading = (lines: readonly string[], word: string): string | undefined =>
  lines.find((line) => line.startsWith(`# ${word}: `))?.slice(`# ${word}: `.length)

const LATEST_MS = 7 * 24 * 3_600_000

type Complain = ReturnType<typeof complaintAt>

const complaintAt =
  (place: string) =>
  ({
    what,
    came,
    expected,
    meant,
  }: Readonly<Record<'what' | 'came' | 'expected', string> & { meant?: string | undefined }>) =>
    new ConfigError(
      `${place}: ${what}: "${excerpt(came)}"\n  expected: ${expected}` +
        (meant === undefined ? '' : `\n  did you mean "${meant}"?`),
    )

const parseStep = (line: string, complain: Complain): Step => {
  const [time = '', subject = '', verb = '', ...rest] = line.split(/\s+/)
  const afterMs = parseDuration(time)
  if (afterMs === undefined || !Number.isInteger(afterMs) || afterMs > LATEST_MS) {
    const expected = 'a time since the start, such as 20s or 1m30s, at most a week'
    throw complain({ what: 'not a time', came: time, expected })
  }
  const directive = findDirective(subject, verb, complain)
  const argument = rest.join(' ')
  if (directive.argument === undefined && argument !== '') {
    throw complain({ what: 'unexpected argument', came: argument, expected: `nothing after "${subject} ${verb}"` })
  }
  const effect = directive.read(argument)
  if (!effect) {
    const what = `wrong argument after "${subject} ${verb}"`
    throw complain({ what, came: argument, expected: directive.argument ?? 'nothing' })
  }
  return { afterMs, text: line, effect }
}

const findDirective = (subject: string, verb: string, complain: Complain): Directive => {
  const nameOf = (directive: Directive): string => `${directive.subject} ${directive.verb}`
  const came = `${subject} ${verb}`
  const found = directives.find((directive) => nameOf(directive) === came)
  if (found) return found
  const verbs = directives.filter((directive) => directive.subject === subject).map((directive) => directive.verb)
  throw complain({
    what: 'unknown directive',
    came,
    expected: verbs.length === 0 ? 'a subject and a verb of scenarios/README.md' : `${subject} ${verbs.join(', ')}`,
    meant: closestMatch(came, directives.map(nameOf)),
  })
}

const SUFFIX = '.scenario'
const folder = packageFile('scenarios/')

/** The scenarios that are part of the package, sorted by name. */
export const listScenarios = async (): Promise<readonly Scenario[]> =>
  await Promise.all((await readNames()).map(async (name) => await readScenario(`${folder}${name}${SUFFIX}`)))

/** Loads a scenario of the package by name, or a file: a path that contains `/` or ends in `.scenario`. Throws a ConfigError. */
export const loadScenario = async (nameOrFile: string): Promise<Scenario> => {
  if (nameOrFile.includes('/') || nameOrFile.endsWith(SUFFIX)) return await readScenario(nameOrFile)
  const names = await readNames()
  if (names.includes(nameOrFile)) return await readScenario(`${folder}${nameOrFile}${SUFFIX}`)
  const meant = closestMatch(nameOrFile, names)
  throw new ConfigError(
    `unknown scenario "${excerpt(nameOrFile)}"${meant === undefined ? '' : `; did you mean ${meant}?`} ` +
      `Use --list to print all scenarios, or a path that ends in ${SUFFIX}`,
  )
}

const readNames = async (): Promise<readonly string[]> =>
  (await readdir(folder))
    .filter((name) => name.endsWith(SUFFIX))
    .map((name) => basename(name, SUFFIX))
    .toSorted()

const readScenario = async (file: string): Promise<Scenario> => {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new ConfigError(`could not read the scenario ${file}: ${String(error)}`)
  })
  return { ...parseScenario(basename(file), text), name: basename(file, SUFFIX) }
}
