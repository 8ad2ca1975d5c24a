import { testFaults } from './suite.ts'

testFaults(['systemctl', 'journalctl', 'node'])
