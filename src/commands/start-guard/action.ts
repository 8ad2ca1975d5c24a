import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../config/schema.ts'
import { type Context, withDeadline } from '../../core/clock.ts'
import { asError, SourceError, summaryOf } from '../../core/errors.ts'
import { duration } from '../../core/format.ts'
import { isObject } from '../../core/json.ts'
import { second } from '../../core/units.ts'
import { keystoreOf, resolveFolders } from '../../domain/key-paths.ts'
import { createReadOnlyCheckpoints } from '../../sources/checkpoint.ts'
import { makeDirectory, writeAtomically } from '../../sources/durable.ts'
import { createBatchingRpcEndpoint, createMetricsEndpoint } from '../../sources/endpoints.ts'
import { createExec } from '../../sources/exec.ts'
import { createHttpClient } from '../../sources/http.ts'
import { keyFiles } from '../../sources/key-files.ts'
import { createPrefix } from '../../sources/prefix.ts'
import { nodeConfigOf } from '../../terminal/config.ts'
import type { ConfigOptions } from '../../terminal/config-options.ts'
import { type ActionContext, type Io, searchPath } from '../../terminal/io.ts'
import { fetchSnapshot } from '../shared/agent-snapshot.ts'
import { savedKey } from '../shared/own-key.ts'
import { type Boot, type LastRunAt, readActiveExit, readBoot, readLastRun } from './last-run.ts'
import { type Identity, isDecisive, readAgent, readReference, type Sighting } from './sightings.ts'

/** One after the other: with the start of the program less than five seconds. */
const [HOST_MS, SOURCES_MS] = [1.5 * second, 2.5 * second]

type StartGuardOptions = ConfigOptions & { readonly override?: true }

export const guardStart = async ({ io, exit, options }: ActionContext<StartGuardOptions>): Promise<void> => {
  const { config } = nodeConfigOf(io, options)
  if (options.override) {
    await writeOverride(config)
    io.stdout.write('The next start is allowed without a check: once, until the next boot.\n')
    return
  }
  const { refusedBecause, sentence } = await decide(io, config).catch((error: unknown) => allow(reasonOf(error)))
  const line = refusedBecause === undefined ? `START ALLOWED: ${sentence}` : `START REFUSED: ${refusedBecause}`
  io.stdout.write(`${line}\n`)
  // In a unit stdout is read by the drop-in, and stderr is the journal, with the priority in front of the line.
  const priority = refusedBecause === undefined ? 6 : 3
  if (io.env['JOURNAL_STREAM'] !== undefined) io.stderr.write(`<${priority}>start guard: ${line}\n`)
  exit(refusedBecause === undefined ? 0 : 1)
}

interface Decision {
  readonly refusedBecause?: string
  readonly sentence?: string
}

const allow = (why: string): Decision => ({ sentence: `whether another host signs is unknown: ${why}` })

const decide = async (io: Io, config: Config): Promise<Decision> => {
  const boot = await withDeadline(io, HOST_MS, () => readBoot(config.host.procfs))
  if (await useOverride(io, config, boot)) return { sentence: 'overridden for this start, without a check' }
  const { key, lastRunAt } = await readHost(io, config, boot)
  const short = `the key ${key.slice(0, 6)}..${key.slice(-4)}`
  const sources = sourcesOf(io, config, { key, lastRunAt, bootId: boot.id })
  if (sources.length === 0) return allow('no RPC among the references, and no agent in startGuard.agents')
  const problems: string[] = []
  const read = async ([name, readSource]: Source): Promise<readonly Sighting[]> => {
    try {
      return [await withDeadline(io, SOURCES_MS, readSource)]
    } catch (error) {
      problems.push(`${name}: ${reasonOf(error)}`)
      return []
    }
  }
  const sightings = (await Promise.all(sources.map(read))).flat()
  const found = sightings.find((one) => isDecisive(one, sightings))?.evidence
  if (found) {
    const age = duration(Math.max(0, io.clock.now() - lastRunAt(io.clock.now())))
    const advice = 'stop that host; if it is stopped, run: sudo chain-agent start-guard --override'
    return {
      refusedBecause: `another host signs with ${short}: ${found}, and consensus has not run here for ${age}; ${advice}`,
    }
  }
  for (const { evidence } of sightings) if (evidence !== null) problems.push(`${evidence}, which other references lack`)
  const seen = sightings.flatMap(({ source, evidence }) => (evidence === null ? [source] : []))
  if (seen.length === 0) return allow(problems.join('; '))
  const rest = problems.length === 0 ? '' : `; unknown: ${problems.join('; ')}`
  return { sentence: `no other host signs with ${short}, by ${seen.join(', ')}${rest}` }
}

const reasonOf = (error: unknown): string => {
  if (!(error instanceof SourceError)) return summaryOf(asError(error))
  return error.timeout ? 'no answer in time' : error.happened
}

/** The key of this host, and when consensus last ran on it. Throws a SourceError if the key is unknown. */
const readHost = async (io: Io, config: Config, boot: Boot): Promise<Pick<Identity, 'key' | 'lastRunAt'>> => {
  const { clock, overrides } = io
  const path = searchPath(io)
  const exec = overrides?.exec ?? createExec({ clock, path })
  const findPrefix = createPrefix({ exec, path, configured: config.prefix })
  const orNull = <T>(read: (context: Context) => Promise<T>, ms = HOST_MS): Promise<T | null> =>
    withDeadline(io, ms, read).catch(() => null)
  const prefixRead = orNull(async ({ signal }) => (await findPrefix(signal)).word, HOST_MS / 3)
  const [lastRunAt, snapshot, saved, changedAt] = await Promise.all([
    withDeadline(io, HOST_MS, async ({ signal }): Promise<LastRunAt> => {
      const unit = config.consensus.unit.replaceAll('{prefix}', (await prefixRead) ?? 'chain')
      const activeExit = (await orNull((inner) => readActiveExit({ exec, unit }, inner.signal), HOST_MS / 3)) ?? 0
      return readLastRun({ exec, unit, activeExit }, boot, signal)
    }),
    orNull(({ signal }) => fetchSnapshot({ config, ...overrides, clock, signal })),
    orNull(() => savedKey(config.state.directory)),
    orNull(async () => {
      const folders = await resolveFolders(config.node, { prefix: (await prefixRead) ?? 'chain', files: keyFiles })
      const facts = await keyFiles.look(keystoreOf(folders, 'secp'))
      return typeof facts === 'object' ? facts.changedAt : null
    }),
  ]).finally(() => overrides?.exec ?? exec.killAll())
  const reportedAt = snapshot?.collectors.find(({ name }) => name === 'status')?.lastSuccessAt ?? 0
  const reported = snapshot?.readings.status?.config.secpPublicKey ?? null
  if (reported !== null && reportedAt > (changedAt ?? 0)) return { key: reported, lastRunAt }
  const key = config.node.publicKey ?? reported ?? saved
  // The configured and the saved key may be those from before a move of the identity.
  const isOld = changedAt !== null && changedAt > lastRunAt(clock.now())
  if (key !== null && !isOld) return { key, lastRunAt }
  const happened = isOld
    ? 'the keystore was changed after the last run, and the agent has read no status report since'
    : 'the key of this host is not known: set node.publicKey, or start the agent'
  throw new SourceError({ doing: 'find the key of this host', happened })
}

type Source = readonly [name: string, read: (context: Context) => Promise<Sighting>]

const sourcesOf = ({ clock, overrides }: Io, config: Config, identity: Identity): readonly Source[] => {
  const ask = overrides?.ask ?? createHttpClient(clock)
  const rpcs = config.references.filter(({ kind }) => kind === 'rpc')
  return [
    ...rpcs.map(({ name, url }): Source => {
      const rpc = createBatchingRpcEndpoint(ask, url, SOURCES_MS)
      return [name, (context) => readReference({ name, rpc }, identity, context)]
    }),
    ...config.startGuard.agents.map((url): Source => {
      const source = `agent ${new URL(url).host}`
      const metrics = createMetricsEndpoint(ask, `${url.replace(/\/+$/, '')}/metrics`, SOURCES_MS)
      return [source, ({ signal }) => readAgent({ source, ask: metrics.metrics(signal) }, identity)]
    }),
  ]
}

const OVERRIDE = 'start-override'
const overrideFile = ({ state }: Config): string => join(state.directory, `${OVERRIDE}.json`)

/** With the boot, so that one that was not used does not allow a start after the next boot. */
const writeOverride = async (config: Config): Promise<void> => {
  const { id: boot } = await readBoot(config.host.procfs)
  await makeDirectory(config.state.directory, 0o750)
  await writeAtomically(overrideFile(config), [JSON.stringify({ boot })], { mode: 0o640, isDirectoryOwned: true })
}

/** Removes it: one that cannot be removed allows no start. */
const useOverride = (io: Io, config: Config, { id }: Boot): Promise<boolean> =>
  withDeadline(io, HOST_MS / 3, async () => {
    const found = await createReadOnlyCheckpoints(config.state.directory).open(OVERRIDE).read()
    if (found.state !== 'saved') return false
    await rm(overrideFile(config))
    return isObject(found.value) && found.value['boot'] === id
  }).catch(() => false)
