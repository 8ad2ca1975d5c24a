import type { z } from 'zod'
import type { Tone } from '../../cli/terminal/style.ts'
import type { View } from './section.ts'
import { amount, digits, flag, listOf, shape, shapeOrNull, timestamp, word } from './shapes.ts'
import { signalName } from './texts.ts'

const unit = {
  unit: word,
  loadState: word,
  activeState: word,
  subState: word,
  unitFileState: word,
  result: word,
  restarts: digits,
  mainPid: amount,
  exit: shapeOrNull({ by: word, status: digits }),
  startedAt: timestamp,
  exitedAt: timestamp,
  memoryBytes: digits,
  cpuSeconds: amount,
  tasks: digits,
  lastTriggerAt: timestamp,
  nextTriggerAt: timestamp,
}

const schema = shape({
  services: listOf(shape({ ...unit, service: word, expected: flag })),
  timers: listOf(shape({ ...unit, timer: word })),
  partialRestart: flag,
})

/** The units as systemd tells of them. */
export const unitsIn = (view: View) => view.reading('services', schema)

export type Service = z.output<typeof schema>['services'][number]

/** `chain-bft` for chain-bft.service, and for a unit whose name is not known. */
export const nameOf = (
  { unit: name, service }: Service,
  { prefix }: Pick<View, 'prefix'>,
): string => (name === null ? `${prefix}-${service ?? ''}` : name.replace(/\.service$/, ''))

/** In systemd's words: of what is active how far it is, else that it is not. */
export const stateOf = ({ loadState, activeState, subState }: Service): string | null => {
  if (loadState === 'not-found') return 'not found'
  if (loadState === 'masked') return 'masked'
  return activeState === 'active' ? (subState ?? activeState) : activeState
}

/** What should run and does not is bad; what need not, and does not, is as it should be. */
export const toneOf = (service: Service): Tone | undefined => {
  if (service.activeState === 'active' && service.loadState !== 'not-found') return undefined
  if (service.activeState === 'failed') return 'bad'
  return service.expected === true ? 'bad' : 'quiet'
}

/** How its last main process ended; null while none has. */
export const endOf = ({ exit }: Service): string | null => {
  if (exit === null || exit.status === null) return null
  return exit.by === 'signal'
    ? `killed by ${signalName(Number(exit.status))}`
    : `exit code ${exit.status}`
}
