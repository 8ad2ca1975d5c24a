import { expect, test } from 'vitest'
import { ParseError } from '../../src/core/errors.ts'
import { parseUnits, unitLines } from '../../src/parsers/systemctl.ts'

const nothing = {
  unit: null,
  loadState: 'loaded',
  subState: null,
  unitFileState: null,
  result: null,
  restarts: null,
  invocation: null,
  mainPid: null,
  exit: null,
  startedAt: null,
  exitedAt: null,
  controlGroup: null,
  memoryBytes: null,
  cpuSeconds: null,
  tasks: null,
  lastTriggerAt: null,
  nextTriggerAt: null,
  logNamespace: null,
  standardOutput: null,
  unknownValues: [],
}

test('a running unit, in the order in which systemd prints', () => {
  const text = `Result=success
NRestarts=2
ExecMainStartTimestamp=Sun 2026-03-01 10:00:00.250000 UTC
ExecMainExitTimestamp=
ExecMainCode=0
ExecMainStatus=0
ControlGroup=/system.slice/chain-bft.service
MemoryCurrent=6442450944
CPUUsageNSec=1500000000
TasksCurrent=42
Id=chain-bft.service
LoadState=loaded
ActiveState=active
SubState=running
UnitFileState=enabled
InvocationID=0123456789abcdef0123456789abcdef
MainPID=4711
`
  expect(parseUnits(text)).toEqual([
    {
      ...nothing,
      unit: 'chain-bft.service',
      activeState: 'active',
      subState: 'running',
      unitFileState: 'enabled',
      result: 'success',
      restarts: 2n,
      invocation: '0123456789abcdef0123456789abcdef',
      mainPid: 4711,
      startedAt: Date.UTC(2026, 2, 1, 10, 0, 0, 250),
      controlGroup: '/system.slice/chain-bft.service',
      memoryBytes: 6n * 1024n ** 3n,
      cpuSeconds: 1.5,
      tasks: 42n,
    },
  ])
})

test.each([
  { name: 'a crash: the signal, not an exit code', code: 3, is: ['failed', 'core-dump', { by: 'signal', status: 6n }] },
  { name: 'a clean exit looks like a stop', code: 1, is: ['inactive', 'success', { by: 'exit', status: 0n }] },
] as const)('$name', ({ code, is: [activeState, result, exit] }) => {
  const text = `ActiveState=${activeState}\nResult=${result}\nExecMainCode=${code}\nExecMainStatus=${exit.status}\n`
  expect(parseUnits(text)).toMatchObject([{ activeState, result, exit }])
})

test('a unit that does not exist: its zeros are not readings', () => {
  const text =
    'Id=chain-nope.service\nLoadState=not-found\nActiveState=inactive\nResult=success\nNRestarts=0\nInvocationID=\nExecMainCode=0\nExecMainStatus=0\n'
  expect(parseUnits(text)).toEqual([
    { ...nothing, unit: 'chain-nope.service', loadState: 'not-found', activeState: 'inactive' },
  ])
})

test('several units, one without Id, a value with an equals sign, what is not set', () => {
  const units = parseUnits(
    'ActiveState=active\nMemoryCurrent=[not set]\nTasksCurrent=18446744073709551615\nDescription=a=b\n\n\nId=b.service\nActiveState=inactive\n',
  )
  expect(units).toMatchObject([
    { unit: null, activeState: 'active', memoryBytes: null, tasks: null },
    { unit: 'b.service', activeState: 'inactive' },
  ])
})

test('a timer', () => {
  const [timer] = parseUnits(
    'ActiveState=active\nSubState=waiting\nLastTriggerUSec=Sun 2026-03-01 10:00:02 UTC\nNextElapseUSecRealtime=Sun 2026-03-01 11:00:00 UTC\n',
  )
  expect(timer).toMatchObject({
    lastTriggerAt: Date.UTC(2026, 2, 1, 10, 0, 2),
    nextTriggerAt: Date.UTC(2026, 2, 1, 11),
  })
})

test.each([
  ['nothing', ''],
  ['words', 'Failed to connect to bus\n'],
  ['no state', 'Id=a.service\n'],
])('complains of %s', (_, text) => {
  expect(() => parseUnits(text)).toThrow(ParseError)
})

test.each([
  ['refreshing', 'reloading'], // since systemd 257
  ['dancing', 'other'],
])('the state %s of a later version is %s', (state, expected) => {
  expect(parseUnits(`Id=a.service\nActiveState=${state}\n`)).toMatchObject([
    { unit: 'a.service', activeState: expected },
  ])
})

// As systemd 252 reads them (systemd-analyze verify).
test.each([
  ['one backslash continues a line', 'A1=x \\\nB1=2', ['A1']],
  ['two are a backslash', 'A1=x \\\\\nB1=2', ['A1', 'B1']],
  ['three continue it', 'A1=x \\\\\\\nB1=2', ['A1']],
  ['a space after it ends the line', 'A1=x \\ \nB1=2', ['A1', 'B1']],
  ['a carriage return ends it', 'A1=x\rB1=2\r\nC1=3', ['A1', 'B1', 'C1']],
  ['a comment within a continued line does not end it', 'A1=x \\\n# why\n  P1=1\nB1=2', ['A1', 'B1']],
  ['a section that begins with X- has none', '[X-Old]\nA1=x\n[Service]\nB1=2', ['B1']],
])('lines of a unit file: %s', (_, text, names) => {
  expect(unitLines(text).flatMap(({ line }) => /^([A-Z]\d)=/.exec(line)?.[1] ?? [])).toEqual(names)
})
