import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describeStatus } from '../../collectors/shared/request.ts'
import { createStakingNode } from '../../collectors/staking/precompile.ts'
import type { Config } from '../../config/schema.ts'
import { type Context, withDeadline } from '../../core/clock.ts'
import { asError, SourceError, summaryOf } from '../../core/errors.ts'
import { duration, figure, shortDuration } from '../../core/format.ts'
import { isObject } from '../../core/json.ts'
import { fromSeconds, minute, second } from '../../core/units.ts'
import { keystoreOf, resolveFolders } from '../../domain/key-paths.ts'
import { parseJournalEntry } from '../../parsers/journal.ts'
import { parsePrometheusText } from '../../parsers/prometheus-text.ts'
import { parseLogBlocks, parseRpcBlock } from '../../parsers/rpc.ts'
import { proposedBlocksFilter } from '../../parsers/staking.ts'
import { createReadOnlyCheckpoints } from '../../sources/checkpoint.ts'
import { makeDirectory, writeAtomically } from '../../sources/durable.ts'
import { createBatchingRpcEndpoint, createMetricsEndpoint, type RpcEndpoint } from '../../sources/endpoints.ts'
import type { Exec } from '../../sources/exec.ts'
import { createFileTree } from '../../sources/file-tree.ts'
import { createHttpClient, type HttpResponse } from '../../sources/http.ts'
import { JOURNAL_OUTPUT_OPTIONS } from '../../sources/journal.ts'
import { keyFiles } from '../../sources/key-files.ts'
import type { ConfiguredContext } from '../../terminal/configured-command.ts'
import { type Io, sourceContext } from '../../terminal/io.ts'
import { fetchSnapshot } from '../shared/agent-snapshot.ts'
import { savedKey } from '../shared/own-key.ts'
import { withHost } from '../shared/with-host.ts'

/** One after the other: with the start of the program less than five seconds. */
const [HOST_MS, SOURCES_MS] = [1.5 * second, 2.5 * second]

export const guardStart = async (context: ConfiguredContext<{ readonly override?: true }>): Promise<void> => {
  const { io, exit, options, config } = context
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
  const orNull = <T>(read: (context: Context) => Promise<T>, ms = HOST_MS): Promise<T | null> =>
    withDeadline(io, ms, read).catch(() => null)
  const source = { config, ...sourceContext(io) }
  const [lastRunAt, snapshot, saved, changedAt] = await withHost(source, (exec, findPrefix) => {
    const prefixRead = orNull(async ({ signal }) => (await findPrefix(signal)).word, HOST_MS / 3)
    return Promise.all([
      withDeadline(io, HOST_MS, async ({ signal }): Promise<LastRunAt> => {
        const unit = config.consensus.unit.replaceAll('{prefix}', (await prefixRead) ?? 'chain')
        const activeExit = (await orNull((inner) => readActiveExit(exec, unit, inner.signal), HOST_MS / 3)) ?? 0
        return readLastRun({ exec, unit, activeExit }, boot, signal)
      }),
      orNull(({ signal }) => fetchSnapshot({ ...source, signal })),
      orNull(() => savedKey(config.state.directory)),
      orNull(async () => {
        const folders = await resolveFolders(config.node, { prefix: (await prefixRead) ?? 'chain', files: keyFiles })
        const facts = await keyFiles.look(keystoreOf(folders, 'secp'))
        return typeof facts === 'object' ? facts.changedAt : null
      }),
    ])
  })
  const reportedAt = snapshot?.collectors.find(({ name }) => name === 'status')?.lastSuccessAt ?? 0
  const reported = snapshot?.readings.status?.config.secpPublicKey ?? null
  if (reported !== null && reportedAt > (changedAt ?? 0)) return { key: reported, lastRunAt }
  const key = config.node.publicKey ?? reported ?? saved
  // The configured and the saved key may be those from before a move of the identity.
  const isOld = changedAt !== null && changedAt > lastRunAt(io.clock.now())
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
      return [source, ({ signal }) => readAgent(source, metrics.metrics(signal), identity)]
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

interface Identity {
  /** 66 hex digits. */
  readonly key: string
  readonly lastRunAt: LastRunAt
  readonly bootId: string
}

interface Sighting {
  readonly source: string
  /** What shows that another host signs with the key; null if nothing does. */
  readonly evidence: string | null
  /** Of a reference: the block of the evidence, and whether it has another one; undefined where it was not searched. */
  readonly block?: string
  readonly has?: (block: string) => boolean | undefined
}

/** Between the time of the last own block and the end of the run; a reference farther behind shows nothing. */
const MARGIN_MS = 10 * second
const FRESH_MS = 30 * second
/** Blocks have 300 ms; hosted endpoints limit eth_getLogs to 100. The newest may not have reached each reference. */
const [SHORTEST_MS, MOST, CHUNK, DEPTH] = [250, 2000, 100, 10]

const unknown = (happened: string): SourceError => new SourceError({ doing: 'read it', happened })
const textOf = (response: HttpResponse): string => {
  if (response.status === 200) return response.text
  throw unknown(describeStatus(response))
}
const ago = (at: number, now: number): string => `${shortDuration(Math.max(0, now - at))} ago`
const hex = (value: number): string => `0x${value.toString(16)}`

/** Throws an error if the reference cannot show whether another host signs. */
const readReference = async (
  { name, rpc }: { readonly name: string; readonly rpc: RpcEndpoint },
  { key, lastRunAt }: Identity,
  { clock, signal }: Context,
): Promise<Sighting> => {
  const block = (tag: string) => rpc.call('eth_getBlockByNumber', [tag, false], signal)
  const answer = await block('finalized')
  const head = parseRpcBlock(textOf(answer))
  const headAt = fromSeconds(head?.timestamp ?? null)
  if (head === null || headAt === null) throw unknown('it has no finalized block')
  const now = Math.max(answer.date ?? clock.now(), headAt)
  if (now - headAt > FRESH_MS) throw unknown(`its newest block is from ${ago(headAt, now)}`)
  const state = createStakingNode(rpc, signal).at(head.number)
  const id = await state.storedId(key)
  if (id === 0n || (await state.validator(id)).secpKey !== key) throw unknown('it has no validator with the key')

  const since = lastRunAt(now) + MARGIN_MS
  const to = Number(head.number) - DEPTH
  const from = to + 1 - Math.min(MOST, to, Math.max(0, Math.ceil((now - since) / SHORTEST_MS)))
  const starts = Array.from({ length: Math.ceil((to + 1 - from) / CHUNK) }, (_, index) => from + index * CHUNK)
  const readChunk = async (start: number) => {
    const range = { fromBlock: hex(start), toBlock: hex(Math.min(to, start + CHUNK - 1)) }
    const logs = await rpc.call('eth_getLogs', [{ ...range, ...proposedBlocksFilter(id) }], signal)
    return parseLogBlocks(textOf(logs))
  }
  const own = (await Promise.all(starts.map(readChunk))).flat().toSorted((a, b) => Number(a.number - b.number))
  const blocks = new Set(own.map(({ number, hash }) => `${number} ${hash}`))
  const has = (other: string): boolean | undefined => {
    const height = Number.parseInt(other, 10)
    return height < from || height > to ? undefined : blocks.has(other)
  }
  const newest = own.at(-1)
  const at = newest && fromSeconds(parseRpcBlock(textOf(await block(hex(Number(newest.number)))))?.timestamp ?? null)
  if (!newest || !at || at <= since) return { source: name, evidence: null, has }
  const evidence = `${name} has block ${figure(newest.number)} of validator ${id}, ${ago(at, now)}`
  return { source: name, evidence, block: `${newest.number} ${newest.hash}`, has }
}

/** Another agent: whether its node signs with the key, by votes as a member of the active set or by blocks. */
const readAgent = async (source: string, ask: Promise<HttpResponse>, { key, bootId }: Identity): Promise<Sighting> => {
  const isSigning = parsePrometheusText(textOf(await ask)).samples.some(
    ({ name, labels: { identity, boot = '' }, value }) =>
      name === 'chain_duty_identity_active' && value === 1 && identity === key && boot.replaceAll('-', '') !== bootId,
  )
  return { source, evidence: isSigning ? `${source} reports that its node signs with it` : null }
}

/** Of an agent, or a block that most references have, of those that searched for it. */
const isDecisive = ({ evidence, block }: Sighting, all: readonly Sighting[]): boolean => {
  const answers = block === undefined ? [true] : all.map(({ has }) => has?.(block))
  const [having, lacking] = [true, false].map((one) => answers.filter((answer) => answer === one).length)
  return evidence !== null && (having ?? 0) > (lacking ?? 0)
}

/** The last run of consensus on this host, by the clock that shows `now`. Own blocks are not later. */
type LastRunAt = (now: number) => number

type Boot = Awaited<ReturnType<typeof readBoot>>

/** The id is without dashes, as in the journal; the uptime is in milliseconds. */
const readBoot = async (procfs: string) => {
  const { read } = createFileTree(procfs)
  const [id, uptime] = await Promise.all([read('sys/kernel/random/boot_id'), read('uptime')])
  return { id: (id ?? '').trim().replaceAll('-', ''), uptime: Number.parseFloat(uptime ?? '0') * second }
}

/** When the unit was active last, in milliseconds since the boot: a refused start does not change it. 0: not in this boot. */
const readActiveExit = async (exec: Exec, unit: string, signal: AbortSignal): Promise<number> => {
  const args = ['show', '--property=ActiveExitTimestampMonotonic', '--value', unit]
  const { stdout } = await exec.run({ command: 'systemctl', args }, signal)
  return /^\d+$/.test(stdout.trim()) ? Number(stdout) / 1000 : 0
}

/** The log of consensus is JSON. systemd forgets a unit that is neither enabled nor failed; the journal has its lines. */
const OF_A_RUN = /^\{|: (?:Main process exited|Deactivated successfully)/
/** After a power cut the journal may lack what journald had not written: it writes every five minutes. */
const SYNC_MS = 5 * minute

/** In this boot by its age, as the clock may have been set; else the end of the boot before. Throws a SourceError. */
const readLastRun = async (
  { exec, unit, activeExit }: { readonly exec: Exec; readonly unit: string; readonly activeExit: number },
  { id, uptime }: Boot,
  signal: AbortSignal,
): Promise<LastRunAt> => {
  const read = async (answers: readonly number[], ...match: readonly string[]) => {
    const program = { command: 'journalctl', args: [...JOURNAL_OUTPUT_OPTIONS, ...match], answers }
    const { stdout } = await exec.run(program, signal)
    return stdout
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map(parseJournalEntry)
  }
  // A journal that is not written to any more does not show when a run ended.
  const [newest] = await read([0], '-n', '1')
  if (newest?.boot !== id || uptime - (newest.monotonic ?? 0) > minute)
    throw new SourceError({ doing: 'find the last run', happened: 'the journal has no entry of the last minute' })
  const lines = await read([0], '-n', '200', `_SYSTEMD_UNIT=${unit}`, '+', `UNIT=${unit}`)
  const ofRun = lines.findLast(({ boot, message }) => boot === id && OF_A_RUN.test(message ?? ''))
  const ended = Math.max(activeExit, ofRun?.monotonic ?? 0)
  if (ended > 0) return (now) => now - Math.max(0, uptime - ended)
  // Exit code 1: the journal has no boot before.
  const [before] = await read([0, 1], '--boot=-1', '-n', '1')
  return (now) => Math.min(now - uptime, (before?.at ?? Infinity) + SYNC_MS)
}
