import { testFaults } from './suite.ts'

testFaults(['mpt', 'status', 'dpkg'])
