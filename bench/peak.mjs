// Peak resident memory of this process in MiB. `maxRSS` of getrusage contains the peak of the process that forked this one.
import { readFileSync } from 'node:fs'

export const peakMiB = () => Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync('/proc/self/status', 'utf8'))[1]) / 1024
