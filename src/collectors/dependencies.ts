import type { Checkpoints } from '../sources/checkpoint.ts'
import type { Clock } from '../core/clock.ts'
import type { Exec } from '../sources/exec.ts'
import type { Forks } from '../core/fork.ts'
import type { HostSources } from '../sources/host.ts'
import type { Journal } from '../sources/journal.ts'
import type { JournalEntry } from '../parsers/journal.ts'
import type { KeyFiles } from '../sources/key-files.ts'
import type {
  MetricsEndpoint,
  QueryEndpoint,
  RpcEndpoint,
  SendHeartbeat,
} from '../sources/endpoints.ts'
import type { ReadOldestEntry } from '../sources/journal-query.ts'
import type { ReadPrefix } from '../sources/prefix.ts'
import type { ReadReport } from '../sources/report-file.ts'
import type { ReadStatus, ReadStorage } from '../sources/node-tools.ts'
import type { Recorder } from '../core/recorder.ts'
import type { Sample } from '../metrics.ts'
import type { TokenFeed, WatchedToken } from './tokens/feed.ts'

/** What collectors do their work with, beside the configuration. */
export interface Means {
  readonly clock: Clock
  readonly recorder: Recorder
  readonly exec: Exec
  readonly journal: Journal<JournalEntry>
  readonly readOldest: ReadOldestEntry<JournalEntry>
  readonly checkpoints: Checkpoints
  readonly readPrefix: ReadPrefix
  /** Endpoints that answer within so many milliseconds. */
  rpcAt(url: string, timeout: number): RpcEndpoint
  queryAt(service: { url: string; apiKeyFile: string | null }, timeout: number): QueryEndpoint
  nativeAt(url: string, timeout: number): MetricsEndpoint
  /** The report of the database tool of that name, or from the file that is configured. */
  readonly readStorage: ReadStorage
  readonly readStatus: ReadStatus
  readonly host: HostSources
  /** What each network will ask of its nodes. */
  readonly forks: Forks
  readonly keyFiles: KeyFiles
  /** Null where the agent is to look at the key files itself. */
  readonly readKeyReport: ReadReport | null
  /** The balances of a token, brought up to date a stretch at a time. */
  tokenFeed(token: WatchedToken): TokenFeed
  /** What all collectors have published: for those that think about the others. */
  readonly published: () => Iterable<Sample>
  /** To the address in that file. */
  heartbeatTo(urlFile: string, timeout: number): SendHeartbeat
}
