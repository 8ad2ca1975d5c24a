import { testFaults } from './suite.ts'

testFaults(['mpt', 'status', 'node', 'dpkg', 'journalctl'])
