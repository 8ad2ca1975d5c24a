import { frame } from '../frame.ts'
import { overview } from '../overview.ts'
import { database } from './database.ts'
import { fitness } from './fitness.ts'
import { host } from './host.ts'
import { security } from './security.ts'
import { services } from './services.ts'
import { versions } from './versions.ts'

/** The detail of one node: what its processes need. */
export const storageDashboard = () =>
  frame({
    name: 'storage',
    description:
      'One node in detail: services, database, drives, host, keys and files. Limits are those of the alert rules.',
    from: 'now-6h',
    rows: [overview, database, services, host, fitness, security, versions],
  })
