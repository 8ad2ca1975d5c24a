import { closestMatch } from '../../core/suggest.ts'
import type { Config } from '../../config/schema.ts'
import { agent, maintenance, notifications, restart, watched } from './agent.ts'
import { chain, rpc } from './chain.ts'
import { consensus, duties, statesync } from './consensus.ts'
import { execution, storage } from './execution.ts'
import { config, header, peers, versions } from './node.ts'
import { host, keys } from './host.ts'
import { isInUse, type Section, type View } from './section.ts'
import { type Fact, oneLine, UNKNOWN } from './fact.ts'
import { services, serviceSection } from './services.ts'
import { staking } from './staking.ts'

/** All sections, in the order in which they are shown. */
export const SECTIONS: readonly Section[] = [
  header,
  config,
  services,
  chain,
  consensus,
  statesync,
  peers,
  rpc,
  execution,
  storage,
  staking,
  duties,
  versions,
  host,
  keys,
  maintenance,
  restart,
  watched,
  notifications,
  agent,
]

/** A row for each section in use: `status`, and below the findings `check`. */
export const overviewRows = (view: View): readonly Pick<Fact, 'label' | 'text' | 'tone'>[] =>
  SECTIONS.flatMap((section) => {
    const { name, label = name, summary, isOnPageOnly = false } = section
    if (!summary || isOnPageOnly || !isInUse(section, view)) return []
    const { text, tone } = summary(view) ?? { text: UNKNOWN, tone: 'unknown' as const }
    return [{ label, text: oneLine(text).slice(0, MAX_SUMMARY), tone }]
  })

/** Keeps the overview on one screen, however long the values of the node are. */
const MAX_SUMMARY = 200

export const ALL = 'all'

/** Read from the host by `status`, not from the agent: no section of the list. */
export const ARGUMENTS = 'arguments'

type Units = Pick<Config, 'prefix'> & { readonly services: Pick<Config['services'], 'units'> }

/**
 * The sections that an argument names: a section, a service by its label or unit, or both if they have the same name.
 * Empty if there are none.
 */
export const sectionsFor = (asked: string, units: Units): readonly Section[] => {
  if (asked === ALL) return SECTIONS
  return [
    ...SECTIONS.filter(({ name, aliases: also = [] }) => name === asked || also.includes(asked)),
    ...Object.entries(units.services.units)
      .filter(([label, unit]) => label === asked || isUnit(asked, unit, units.prefix))
      .map(([label, unit]) => serviceSection(label, unit.replace(/\.service$/, ''))),
  ]
}

/** A suggestion for a misspelt name. */
export const suggestSection = (asked: string, { services: { units }, prefix }: Units): string | undefined =>
  closestMatch(asked, [
    ALL,
    ARGUMENTS,
    ...SECTIONS.flatMap(({ name, aliases: also = [] }) => [name, ...also]),
    ...Object.keys(units),
    ...Object.values(units).map((unit) =>
      unit.replace(/\.service$/, '').replace('{prefix}', prefix === 'auto' ? 'chain' : prefix),
    ),
  ])

/** While the name prefix is not known, any word may be it. */
const isUnit = (asked: string, unit: string, prefix: string): boolean => {
  const name = asked.replace(/\.service$/, '')
  const [before = '', after] = unit.replace(/\.service$/, '').split('{prefix}')
  if (after === undefined) return name === before
  if (prefix !== 'auto') return name === `${before}${prefix}${after}`
  const word = name.slice(before.length, name.length - after.length)
  return name === `${before}${word}${after}` && /^[a-z][a-z0-9]*$/.test(word)
}
