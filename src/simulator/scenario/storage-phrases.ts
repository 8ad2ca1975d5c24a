import { devices, oneOf, onceOrWhile, percent, percentInTime } from './arguments.ts'
import { type Effect, type Phrase, phrase } from './phrase.ts'
import { fillTo, LAYOUTS, type Storage } from './storage.ts'

const storage =
  (change: (storage: Storage, atMs: number) => Storage): Effect =>
  (condition, atMs) => ({ ...condition, storage: change(condition.storage, atMs) })

export const storagePhrases: readonly Phrase[] = [
  phrase(
    { subject: 'storage', verb: 'used', means: 'so much of the database is in use' },
    percent,
    (share) => storage(fillTo(share / 100, 0)),
  ),
  phrase(
    {
      subject: 'storage',
      verb: 'fills',
      means: 'the use goes there in a straight line; above 80 % the history shrinks',
    },
    percentInTime,
    ({ percent: share, ms }) => storage(fillTo(share / 100, ms)),
  ),
  phrase(
    {
      subject: 'mpt',
      verb: 'speaks',
      means: 'the storage report has that layout: A is the oldest, E the usual one',
    },
    oneOf(LAYOUTS),
    (layout) => storage((before) => ({ ...before, layout })),
  ),
  phrase(
    {
      subject: 'mpt',
      verb: 'timelines',
      means: 'layout E shows the primary timeline, page-encoded (single) or not (legacy), or both',
    },
    oneOf(['single', 'dual', 'legacy']),
    (timelines) => storage((before) => ({ ...before, timelines })),
  ),
  phrase(
    { subject: 'mpt', verb: 'devices', means: 'the database lies on so many devices' },
    devices,
    (count) => storage((before) => ({ ...before, devices: count })),
  ),
  phrase(
    {
      subject: 'mpt',
      verb: 'sentinel',
      means: 'every block of the storage report is the mark for "never set"',
    },
    onceOrWhile,
    ({ ms }) =>
      storage((before, atMs) => ({
        ...before,
        sentinel: { fromMs: atMs, untilMs: ms === undefined ? undefined : atMs + ms },
      })),
  ),
]
