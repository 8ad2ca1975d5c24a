/** Which versions of the node have been installed, and what is said of them. */
export interface Versions {
  /** The first has always been there; oldest first. */
  readonly installs: readonly [Install, ...Install[]]
  /** Whether the RPC keeps its version to itself. */
  readonly hidden: boolean
}

interface Install {
  readonly fromMs: number
  readonly version: string
}

export const usualVersions: Versions = {
  installs: [{ fromMs: -Infinity, version: '0.16.1' }],
  hidden: false,
}

/** What a process is that is started now. */
export const installedVersion = ({ installs: [first, ...later] }: Versions): string =>
  later.at(-1)?.version ?? first.version

/** A process stays the version that was installed when it was started. */
export const runningVersion = (
  { installs: [first, ...later] }: Versions,
  { startedMs }: { readonly startedMs: number },
): string => later.findLast(({ fromMs }) => fromMs <= startedMs)?.version ?? first.version
