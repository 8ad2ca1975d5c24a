import { COLOUR } from '../colours.ts'
import { NODE_LABELS } from '../links.ts'
import { ownLimits } from '../limits.ts'
import { graph } from '../panels/graph.ts'
import { heightOf, table } from '../panels/table.ts'
import { type Placed } from '../panels/panel.ts'

/** An identity must exist only once. */
const ONE = ownLimits([
  { value: null, color: COLOUR.good },
  { value: 2, color: COLOUR.critical },
])

/** How often, with how much stake, and under which name a node leads. */
export const identity: readonly Placed[] = [
  graph({
    title: 'Own blocks and timeouts in an hour',
    about: 'Rounds that the selected nodes led within an hour, by result. Several timeouts in an hour: see the node.',
    alerts: ['ChainLeaderTimeouts', 'ChainLeaderTimeouts.in-a-row', 'ChainOwnBlocksEmpty'],
    unit: 'locale',
    decimals: 0,
    width: 12,
    min: 0,
    lines: [
      { expr: 'sum(increase(chain_ledger_own_blocks_total{event="proposed"}[1h]))', legend: 'blocks proposed' },
      { expr: 'sum(increase(chain_ledger_own_blocks_total{event="finalized"}[1h]))', legend: 'blocks finalized' },
      { expr: 'sum(increase(chain_ledger_own_empty_blocks_total[1h]))', legend: 'blocks without transactions' },
      { expr: 'max(increase(chain_ledger_empty_blocks_total[1h]))', legend: 'of all leaders, without transactions' },
      { expr: 'sum(increase(chain_ledger_own_timeouts_total[1h]))', legend: 'timed out' },
    ],
  }),
  table({
    title: 'Share of the stake',
    about: 'It determines how often a node leads; 0 is outside the active set, where it neither leads nor votes.',
    alerts: ['ChainLeftActiveSet'],
    width: 12,
    height: heightOf(6),
    keys: { instance: 'Node' },
    hidden: NODE_LABELS,
    sortBy: { title: 'Share', descending: true },
    columns: [
      { title: 'Share', expr: 'max by (job, instance) (chain_native_stake_ratio)', unit: 'percentunit', decimals: 3 },
    ],
  }),
  table({
    title: 'Signing identities',
    about:
      'Each identity that a selected node signs with, and the number of nodes that sign with it, of all nodes of Prometheus, selected or not. Two nodes with one identity sign twice: stop one of them at once.',
    alerts: ['ChainIdentityTwice'],
    width: 12,
    height: heightOf(6),
    keys: { instance: 'Node', identity: 'Identity' },
    hidden: NODE_LABELS,
    columns: [
      {
        title: 'Nodes with it',
        expr: `
          max by (job, instance, identity) (chain_duty_identity_active == 1)
          * on (identity) group_left () count by (identity) (group by (identity, boot) (chain_duty_identity_active == 1))`,
        unit: 'locale',
        words: { 1: ['one', 'good'] },
        limits: ONE,
      },
    ],
  }),
]
