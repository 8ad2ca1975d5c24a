import { testFaults } from './suite.ts'

testFaults(['rpc', 'reference', 'native'])
