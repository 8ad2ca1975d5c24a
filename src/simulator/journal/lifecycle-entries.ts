import { constants } from 'node:os'
import type { Draft } from './journal.ts'
import {
  descriptionOf,
  type Exit,
  invocationOf,
  ROLES,
  type Service,
  unitOf,
} from '../scenario/service.ts'
import type { Change } from '../scenario/timeline.ts'

/** Message ids of systemd's catalogue; the texts are those of version 252. */
const MESSAGE_ID = {
  starting: '7d4958e842da4a758f6c1cdc7b36dcc5',
  started: '39f53479d3a045ac8e11786248231fbf',
  stopping: 'de5b426a63be47a7b6ac3eaac82e2f6f',
  stopped: '9d1aaa27d60140bd96365438aad20286',
  exited: '98e322203f7a4ed290d09fe03c09fe15',
  failed: 'd9b373ed55a64feb8242e02dbe79a49c',
  deactivated: '7ad2d189f7e94e70a38c781354912448',
} as const

/** What PID 1 writes into the journal when a scenario starts or ends services. */
export function* lifecycleEntries(
  { node, prefix }: { readonly node: string; readonly prefix: string },
  { atMs, before, after }: Change,
): Generator<Draft> {
  for (const role of ROLES) {
    const [was, is] = [before.services[role], after.services[role]]
    const unit = unitOf(prefix, role)
    if (is.exit && is.exit !== was.exit) {
      yield* ending(unit, invocationOf(node, is), { ...is, exit: is.exit })
    }
    if (is.generation !== was.generation) {
      const write = writer(unit, invocationOf(node, is), atMs)
      yield write(`Started ${titleOf(unit)}.`, MESSAGE_ID.started, {
        JOB_TYPE: 'start',
        JOB_RESULT: 'done',
      })
    }
  }
}

/** What PID 1 writes when a timer runs a unit that does its work and ends. */
export function* oneshotEntries(unit: string, invocation: string, atMs: number): Generator<Draft> {
  const name = titleOf(unit)
  const write = writer(unit, invocation, atMs)
  const ended = writer(unit, invocation, atMs + ONESHOT_MS)
  yield write(`Starting ${name}...`, MESSAGE_ID.starting, { JOB_TYPE: 'start' })
  yield ended(`${unit}: Deactivated successfully.`, MESSAGE_ID.deactivated)
  yield ended(`Finished ${name}.`, MESSAGE_ID.started, { JOB_TYPE: 'start', JOB_RESULT: 'done' })
}

export const ONESHOT_MS = 1800

const titleOf = (unit: string): string => `${unit} - ${descriptionOf(unit)}`

function* ending(
  unit: string,
  invocation: string,
  service: Service & { readonly exit: Exit },
): Generator<Draft> {
  const { exit, result } = service
  const write = writer(unit, invocation, exit.atMs)
  if (exit.asked) {
    yield write(`Stopping ${titleOf(unit)}...`, MESSAGE_ID.stopping, { JOB_TYPE: 'stop' })
  }
  if (result === 'success') {
    yield write(`${unit}: Deactivated successfully.`, MESSAGE_ID.deactivated)
  } else {
    const status = `${exit.status}/${exit.code === 'exited' ? 'FAILURE' : nameOf(exit.status)}`
    yield write(
      `${unit}: Main process exited, code=${exit.code}, status=${status}`,
      MESSAGE_ID.exited,
      {
        PRIORITY: '4',
        COMMAND: 'ExecStart',
        EXIT_CODE: exit.code,
        EXIT_STATUS: String(exit.status),
      },
    )
    yield write(`${unit}: Failed with result '${result}'.`, MESSAGE_ID.failed, {
      PRIORITY: '4',
      UNIT_RESULT: result,
    })
  }
  if (exit.asked) {
    yield write(`Stopped ${titleOf(unit)}.`, MESSAGE_ID.stopped, {
      JOB_TYPE: 'stop',
      JOB_RESULT: 'done',
    })
  }
}

/** The name of a signal as systemd prints it: without SIG. */
const nameOf = (number: number): string =>
  Object.entries(constants.signals)
    .find(([, known]) => known === number)?.[0]
    .slice('SIG'.length) ?? String(number)

const writer =
  (unit: string, invocation: string, atMs: number) =>
  (message: string, messageId: string, more: Readonly<Record<string, string>> = {}): Draft => ({
    atMs,
    fields: {
      MESSAGE: message,
      MESSAGE_ID: messageId,
      PRIORITY: '6',
      UNIT: unit,
      INVOCATION_ID: invocation,
      SYSLOG_IDENTIFIER: 'systemd',
      SYSLOG_FACILITY: '3',
      _PID: '1',
      _UID: '0',
      _COMM: 'systemd',
      _SYSTEMD_UNIT: 'init.scope',
      _TRANSPORT: 'journal',
      ...more,
    },
  })
