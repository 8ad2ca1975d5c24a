import type { SimulatedNode } from '../node.ts'
import type { Tool } from './tools.ts'

/** The stand-in for chronyc, which knows `-c tracking` alone. */
export const createChronyc =
  (node: SimulatedNode): Tool =>
  (argv) => {
    if (argv.join(' ') !== '-c tracking') {
      return [{ stderr: 'the simulated chronyc knows -c tracking only\n' }, { exit: 1 }]
    }
    const { clockAheadMs } = node.condition().host
    const at = (Math.floor(node.now() / 64_000) * 64).toFixed(9)
    // What is told is the correction: a clock that is ahead has a negative one.
    const line =
      clockAheadMs === undefined
        ? '00000000,,0,0.000000000,0.000000000,0.000000000,0.000000000,0.000,0.000,0.000,1.000000000,1.000000000,0.0,Not synchronised'
        : `C0000207,192.0.2.7,3,${at},${(-clockAheadMs / 1000).toFixed(9)},0.000031400,0.000120000,-11.732,0.004,0.091,0.008213000,0.001100000,64.4,Normal`
    return [{ stdout: `${line}\n` }, { exit: 0 }]
  }
