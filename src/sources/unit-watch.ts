import { type FSWatcher, readlinkSync, watch } from 'node:fs'
import { errorCode } from '../core/errors.ts'
import { readTextSync } from '../core/files.ts'

/** A unit as systemctl showed it. */
interface ShownUnit {
  readonly unit: string
  /** Null for a unit that is not active: systemd may have removed its link. */
  readonly invocation: string | null
  /** The path below the root of the control groups; null for a unit without processes. */
  readonly controlGroup: string | null
}

export type WatchUnits = ReturnType<typeof createUnitWatch>
export type UnitWatch = ReturnType<WatchUnits>

const EVENTS = '/cgroup.events'
/** `cpu.stat` has some hundred bytes, the others a number. */
const GROUP_FILE_BYTES = 4096

/** Null if it does not exist. The kernel answers at once, and a read by another thread costs ten times as much. */
const readGroupFile = (path: string): string | null => {
  try {
    return readTextSync(path, GROUP_FILE_BYTES)
  } catch {
    return null
  }
}

/**
 * Watches units for changes, without a process. `wake` is called for each change, several times for one. By inotify, of
 * which Node.js has one instance for the process:
 *
 * - `/run/systemd/units/invocation:UNIT` is a link to the invocation id. systemd creates it when it prepares the first
 *   program of a start, and removes it when the unit becomes inactive or failed, also between two automatic restarts:
 *   `unit_export_state_files` and `unit_unlink_state_files` in src/core/unit.c.
 * - `cgroup.events` of the unit's control group reports a modification when `populated` changes: its last process has
 *   ended, or its first one began. Documentation/admin-guide/cgroup-v2.rst of the kernel.
 * - `/run/systemd` itself changes at each `daemon-reload`, with which units appear, disappear, are enabled or masked:
 *   systemd creates its directories for generators again, and touches `systemd-units-load`.
 *
 * A unit that begins to stop or to reload causes none of these, nor does one that is reset, or that fails before its
 * first program. cgroup v1 has no `cgroup.events`. `state`: systemd's directory of its own state.
 */
export const createUnitWatch =
  ({
    state = '/run/systemd',
    cgroups = '/sys/fs/cgroup',
  }: { readonly state?: string; readonly cgroups?: string } = {}) =>
  (wake: () => void) => {
    const links = `${state}/units`
    const watchers = new Map<string, FSWatcher>()
    let names: ReadonlySet<string> = new Set()
    let failure: string | null = null

    /** Null if it is watched, or the reason why not. */
    const open = (path: string, isOfInterest: (name: string | null) => boolean = () => true): string | null => {
      try {
        const watcher = watch(path, { persistent: false }, (_, name) => {
          if (isOfInterest(name)) wake()
        })
        watcher.on('error', () => {
          watchers.delete(path)
          wake()
        })
        watchers.set(path, watcher)
        return null
      } catch (error) {
        return `${path} cannot be watched (${errorCode(error)})`
      }
    }
    const close = (): void => {
      for (const watcher of watchers.values()) watcher.close()
      watchers.clear()
    }
    const isLinked = ({ unit, invocation }: ShownUnit): boolean => {
      try {
        return readlinkSync(`${links}/invocation:${unit}`) === invocation
      } catch {
        return false
      }
    }
    const eventsOf = ({ controlGroup }: ShownUnit): readonly string[] =>
      controlGroup === null ? [] : [`${cgroups}${controlGroup}${EVENTS}`]

    return {
      close,
      /**
       * Watches again what is there now: a control group that was removed and created again has no watch. Call it before
       * systemctl, so that no change is missed between the two.
       */
      renew: (): void => {
        const known = [...watchers.keys()]
        close()
        failure = open(state) ?? open(links, (name) => name !== null && names.has(name))
        // One that is gone is not shown any more.
        for (const path of known) if (path.endsWith(EVENTS)) open(path)
      },
      /**
       * Takes the units of the last answer of systemctl. Returns why a change of them may not be noticed; null if it will
       * be. If a unit or its control group is new, `wake` is called: it may have changed before it was watched.
       */
      cover: (units: readonly ShownUnit[]): string | null => {
        const [before, events] = [names, new Set(units.flatMap(eventsOf))]
        names = new Set(units.map(({ unit }) => `invocation:${unit}`))
        let isNew = [...names].some((name) => !before.has(name))
        for (const [path, watcher] of watchers) {
          if (!path.endsWith(EVENTS) || events.has(path)) continue
          watcher.close()
          watchers.delete(path)
        }
        for (const path of events) {
          if (watchers.has(path)) continue
          const why = open(path)
          failure ??= why
          isNew ||= why === null
        }
        if (isNew) wake()
        // Otherwise they are units of another systemd: in a container, or of a simulated node.
        const unlinked = units.find((unit) => unit.invocation !== null && !isLinked(unit))
        return failure ?? (unlinked === undefined ? null : `${links} has no link to the run of ${unlinked.unit}`)
      },
      /** The texts of the files of a control group; null for a file that does not exist: its controller is off. */
      usage: (controlGroup: string) => {
        const read = (name: string) => readGroupFile(`${cgroups}${controlGroup}/${name}`)
        return { memory: read('memory.current'), cpu: read('cpu.stat'), tasks: read('pids.current') }
      },
    }
  }
