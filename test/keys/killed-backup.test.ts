import { testKilled } from './kill-at-each-call.ts'

await testKilled('backup')
