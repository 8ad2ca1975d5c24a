import type { Context } from '../core/clock.ts'
import {
  createFollow,
  type FollowOptions,
  HEARTBEAT,
  type Journal,
  type JournalBatch,
  type JournalDependencies,
  type JournalPosition,
  type Subscription,
} from './journal.ts'
import { patternOf } from './journal-range.ts'
import { createMailbox, merge, ticks } from './streams.ts'

/** An entry with the fields that matches select by. */
interface MatchedEntry extends JournalPosition {
  readonly fields: Readonly<Record<string, string>>
}

/** Several followers share a journalctl: see `createSubscriptions`. */
export const createSharedJournal = <Entry extends MatchedEntry>(
  dependencies: JournalDependencies<Entry>,
): Journal<Entry> => {
  const follow = createFollow(dependencies)
  const subscriptionFor = createSubscriptions(follow)
  return {
    async *follow(following, context) {
      const { clock, signal } = context
      const subscription = subscriptionFor(following, context)
      try {
        yield* follow(following, { clock, signal, subscription })
        if (!subscription || signal.aborted) return
        const { interval } = following
        for await (const event of merge(subscription.batches(), ticks(interval, HEARTBEAT, { clock, signal })))
          yield event
      } finally {
        subscription?.end()
      }
    },
  }
}

/** A follower for which more is kept continues with its own journalctl, and tries again at its next heartbeat. */
const MAX_KEPT = 10_000

/** The followers whose matches one journalctl can select. */
interface Group<Entry> {
  readonly members: Map<object, Selection>
  shared: Shared<Entry> | undefined
}

/** A journalctl for several followers. */
interface Shared<Entry> {
  /** The selections for which it was started. */
  readonly covered: readonly Selection[]
  /** `receive` resolves when the follower has received the batch. */
  readonly receivers: Map<
    object,
    { readonly receive: (batch: JournalBatch<Entry>) => Promise<void>; readonly fail: (error: unknown) => void }
  >
  readonly stop: () => void
}

/**
 * One journalctl for all followers with a pattern, and one for those without: journalctl applies a pattern to all that it
 * selects. It selects for those that follow when it is started, and ends with the last of them. A follower begins with a
 * journalctl of its own, which resumes at its position. Later it subscribes, and changes over when its own one has returned
 * an entry that was written since, or the last one of the journal: no entry is lost or comes twice.
 */
const createSubscriptions = <Entry extends MatchedEntry>(follow: ReturnType<typeof createFollow<Entry>>) => {
  const groups = new Map<string, Group<Entry>>()

  const start = (group: Group<Entry>, { interval, timeout }: FollowOptions, { clock }: Context): Shared<Entry> => {
    const stopping = new AbortController()
    const covered = [...group.members.values()]
    const receivers: Shared<Entry>['receivers'] = new Map()
    const shared = {
      covered,
      receivers,
      stop: () => {
        stopping.abort()
        if (group.shared === shared) group.shared = undefined
      },
    }
    const pump = async (): Promise<void> => {
      const following = { match: argumentsOf(covered), start: { since: clock.now() }, interval, timeout }
      try {
        for await (const batch of follow(following, { clock, signal: stopping.signal })) {
          if (batch.entries.length + batch.unreadable === 0) continue
          await Promise.all([...receivers.values()].map(async ({ receive }) => receive(batch)))
        }
      } catch (error) {
        shared.stop()
        for (const { fail } of receivers.values()) fail(error)
      }
    }
    void pump()
    return shared
  }

  /** Undefined for a match that cannot be shared. */
  return (following: FollowOptions, context: Context): Subscription<Entry> | undefined => {
    const selection = selectionOf(following.match)
    if (!selection) return undefined
    const group = groups.get(selection.kind) ?? { members: new Map(), shared: undefined }
    groups.set(selection.kind, group)
    const join = (): Shared<Entry> => (group.shared ??= start(group, following, context))
    return createSubscription(group, selection, { join, now: context.clock.now })
  }
}

const createSubscription = <Entry extends MatchedEntry>(
  group: Group<Entry>,
  selection: Selection,
  { join, now }: { readonly join: () => Shared<Entry>; readonly now: () => number },
): Subscription<Entry> => {
  const self = {}
  group.members.set(self, selection)
  const accepts = createFilter(selection)
  const mailbox = createMailbox<JournalBatch<Entry>>()
  let active: { readonly at: number; readonly shared: Shared<Entry> } | undefined
  let hasChanged = false
  /** What the shared journalctl has returned, until the change. */
  let kept: Entry[] = []
  /** The cursors of what the own one has returned since the subscription. */
  const seen = new Set<string>()
  let hasPassed = false
  /** The shared one has returned an entry that was written since. */
  let isCurrent = false

  const unsubscribe = (): void => {
    active?.shared.receivers.delete(self)
    if (active?.shared.receivers.size === 0) active.shared.stop()
    active = undefined
    kept = []
    seen.clear()
    hasPassed = false
    isCurrent = false
  }
  const isNew = ({ cursor, at }: Entry): boolean => {
    // The own one has returned what was written before. Later the clock may be set back.
    isCurrent ||= at >= (active?.at ?? 0)
    return isCurrent && !seen.has(cursor)
  }

  const receive = async ({ entries, unreadable }: JournalBatch<Entry>): Promise<void> => {
    const own = entries.filter(accepts)
    if (!hasChanged) {
      for (const entry of own) if (isNew(entry)) kept.push(entry)
      if (kept.length > MAX_KEPT) unsubscribe()
      return
    }
    // Whose they are is unknown: they are counted once.
    const [first] = active?.shared.receivers.keys() ?? []
    const batch = { entries: own.filter(isNew), unreadable: first === self ? unreadable : 0, gap: false }
    if (batch.entries.length + batch.unreadable > 0) await mailbox.put(batch)
  }
  const fail = (error: unknown): void => {
    if (hasChanged) mailbox.fail(error)
    else unsubscribe()
  }

  return {
    subscribe: () => {
      if (active) return
      const shared = join()
      if (!shared.covered.some(({ text }) => text === selection.text)) return
      shared.receivers.set(self, { receive, fail })
      active = { at: now(), shared }
    },
    delivered: (entries) => {
      if (!active) return false
      for (const { cursor, at } of entries) {
        seen.add(cursor)
        hasPassed ||= at > active.at
      }
      return hasPassed
    },
    isSubscribed: () => active !== undefined,
    async *batches() {
      if (!active) return
      hasChanged = true
      const entries = kept.filter(isNew)
      kept = []
      if (entries.length > 0) yield { entries, unreadable: 0, gap: false }
      yield* mailbox.items()
    },
    end: () => {
      group.members.delete(self)
      mailbox.end()
      unsubscribe()
    },
  }
}

/** What a match selects. */
interface Selection {
  readonly text: string
  /** Selections of one kind can be selected together. */
  readonly kind: string
  readonly options: readonly string[]
  /** An entry has, for one of them, one of the values of each field: NAME=value, joined. */
  readonly alternatives: readonly string[]
  readonly pattern: string | undefined
}

/** Undefined for units and fields in one match, of which an entry must have both. */
const selectionOf = (match: readonly string[]): Selection | undefined => {
  const options: string[] = []
  const units: string[] = []
  const fields: string[] = []
  let pattern: string | undefined
  for (const [at, word] of match.entries()) {
    if (match[at - 1] === '-u') units.push(word)
    else if (word.startsWith('--grep=')) pattern = word.slice('--grep='.length)
    else if (word.startsWith('-')) options.push(...(word === '-u' ? [] : [word]))
    else fields.push(word)
  }
  if (units.length > 0 === fields.length > 0) return undefined
  const alternatives = fields.length > 0 ? fields.join(AND).split(OR) : units.flatMap(entriesOf)
  const kind = [...options, pattern === undefined ? '' : `pattern ${patternOf(pattern).flags}`].join(' ')
  return { text: match.join(AND), kind, options, alternatives, pattern }
}

const AND = '\0'
const OR = `${AND}+${AND}`

/** The entries of `-u UNIT` by journalctl(1), except those of core dumps, whose unit is another one. */
const entriesOf = (unit: string): readonly string[] => [
  `_SYSTEMD_UNIT=${unit}`,
  `_PID=1${AND}UNIT=${unit}`,
  `_UID=0${AND}OBJECT_SYSTEMD_UNIT=${unit}`,
]

/** The arguments of journalctl for all of these, which are of one kind. */
const argumentsOf = (selections: readonly Selection[]): readonly string[] => {
  const alternatives = new Set(selections.flatMap((one) => one.alternatives))
  const patterns = new Set(selections.flatMap(({ pattern }) => pattern ?? []))
  return [
    ...(selections[0]?.options ?? []),
    ...(patterns.size === 0 ? [] : [`--grep=${[...patterns].map((pattern) => `(?:${pattern})`).join('|')}`]),
    ...[...alternatives].join(OR).split(AND),
  ]
}

/** Whether the match of one follower selects an entry that the arguments for all selected. */
const createFilter = ({ alternatives, pattern }: Selection): ((entry: MatchedEntry) => boolean) => {
  const expression = pattern === undefined ? undefined : patternOf(pattern)
  const conditions = alternatives.map((all) => {
    const values = new Map<string, string[]>()
    for (const match of all.split(AND)) {
      const [, name = '', value = ''] = /^([^=]*)=(.*)$/s.exec(match) ?? []
      // _UID is not in the output.
      if (name !== '_UID') values.set(name, [...(values.get(name) ?? []), value])
    }
    return [...values]
  })
  return ({ fields }) =>
    conditions.some((all) => all.every(([name, values]) => values.includes(fields[name] ?? ''))) &&
    (expression?.test(fields['MESSAGE'] ?? '') ?? true)
}
