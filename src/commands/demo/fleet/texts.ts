import { type Fate, fateOf, HEALTHY } from './fates.ts'
import { nameOf } from './fleet.ts'
import type { Member } from './member.ts'

/** What `--list` prints: one node a line. */
export const renderFates = (size: number): string =>
  Array.from({ length: size }, (_, index) => row(nameOf(index + 1), fateOf(index + 1))).join('')

const row = (name: string, { name: fate, description }: Fate): string =>
  `${name}  ${fate.padEnd(18)}  ${description}\n`

/** The truth about the fleet, for whoever checks what a dashboard says. */
export const describeFleet = (members: readonly Member[]) =>
  members.map(({ name, fate, port, publicKey }) => ({
    name,
    fate: fate.name,
    description: fate.description,
    publicKey,
    metrics: `http://127.0.0.1:${port}/metrics`,
  }))

/** The targets as Prometheus discovers them, from a file or over HTTP. */
export const targetsOf = (members: readonly Member[]) =>
  members.map(({ name, port }) => ({
    targets: [`127.0.0.1:${port}`],
    labels: { node: name, cluster: 'rehearsal' },
  }))

interface Welcome {
  readonly members: readonly Member[]
  readonly front: string
  /** The port that was asked for. */
  readonly wanted: number
  readonly configFile: string
  readonly targetsFile: string
  readonly logFile: string
}

/** What the demo says when all run. */
export const renderFleetWelcome = (welcome: Welcome): string => {
  const { members, front, wanted, configFile, targetsFile, logFile } = welcome
  const well = members.filter(({ fate }) => fate === HEALTHY)
  const { port } = new URL(front)
  return [
    `${members.length} nodes of one network, ${well.length} of them well, each with an agent of its own:`,
    ...members
      .filter((member) => !well.includes(member))
      .map(({ name, fate }) => `  ${row(name, fate).trimEnd()}`),
    ...(wanted === 0 || wanted === Number(port)
      ? []
      : [`Port ${wanted} is taken; the list has ${port}.`]),
    '',
    `  fates      ${front}/fleet.json`,
    `  targets    ${targetsFile}, and for http_sd ${front}/targets`,
    `  process    ${front}/metrics`,
    `  log        ${logFile}`,
    '',
    `  prometheus --config.file=${configFile} --storage.tsdb.path=/tmp/chain-fleet-data`,
    '',
    'Ctrl-C ends all.',
    '',
  ].join('\n')
}
