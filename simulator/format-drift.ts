import { directiveTable, set } from './scenario/directives.ts'

export const formatDirectives = directiveTable({
  'formats drift': ['reports, ledger stream and logs of the node use unknown keywords', set({ formatsDrift: true })],
  'formats return': ['every output has its usual format again', set({ formatsDrift: false })],
})

/** The keywords of one output, and unknown ones in their place. */
const drifting =
  (words: Readonly<Record<string, string>>) =>
  (text: string): string =>
    Object.entries(words).reduce((drifted, [word, other]) => drifted.replaceAll(word, other), text)

/** Every value is still printed, under unknown keywords. */
export const drift = {
  mpt: drifting({
    'MPT database on storages:': 'State store devices:',
    '          Capacity           Used      %  Path': '              Size         Filled  share  Device',
    '%  "': ' pct on "',
    'MPT database internal lists:': 'State store segments:',
    'Fast:': 'Hot:',
    'Slow:': 'Cold:',
    'Free:': 'Idle:',
    ' chunks': ' segments',
    'MPT database has been configured to retain': 'State store is told to keep',
    'It has been configured to retain': 'It is told to keep',
    'MPT database has ': 'State store holds ',
    'Latest ': 'Newest ',
    'latest ': 'newest ',
    'Active timelines:': 'Open branches:',
    'Primary:': 'First:',
    'Secondary:': 'Second:',
    'State machine kind:': 'Encoding:',
    'History:': 'Depth:',
    'Auto expire version:': 'Pruned below:',
  }),
  status: drifting({
    '\nuptime: ': '\nrunning since: ',
    '\nversion: ': '\nrelease: ',
    '\nservices:\n': '\nunits:\n',
    ': running\n': ': up\n',
    '\npeers:\n': '\nneighbours:\n',
    'peersNumber:': 'count:',
    '\nconsensus:\n': '\nagreement:\n',
    ': in-sync\n': ': following\n',
    'mode: live': 'phase: steady',
    'round: ': 'view: ',
    blockNumber: 'height',
    'blockDifference:': 'behind:',
    '\nstatesync:\n': '\ncatchUp:\n',
    '\nrpc:\n': '\nendpoint:\n',
  }),
  native: drifting({
    _total_uptime_us: '_age_us',
    _node_info: '_about',
    _execution_ledger_: '_book_',
    _state_: '_agreement_',
    _statesync_: '_catch_up_',
    _peer_disc_: '_neighbours_',
    _wireauth_: '_handshakes_',
    _triedb_: '_store_',
    _executor_: '_worker_',
    _bft_: '_core_',
  }),
  ledgerTail: drifting({
    '"seq_num":': '"height":',
    '"round":': '"view":',
    '"parent_round":': '"parent_view":',
    '"author":': '"leader":',
    '"block_ts_ms":': '"block_time":',
  }),
  consensusLog: drifting({
    '"num_tx":': '"transactions":',
    '"block_num":': '"height":',
    '"round":': '"view":',
    '"epoch":': '"era":',
    '"Qc(QC {': '"Quorum(Certificate {',
    '"Tc(TimeoutCertificate {': '"Late(Certificate {',
    ' epoch: ': ' era: ',
    ' round: ': ' view: ',
    'proposal_round: ': 'proposal_view: ',
    '"db_status":': '"phase":',
    '"root_seq_num":': '"root_height":',
  }),
  executionLog: drifting({
    ',bl=': ',height=',
    ',txe=': ',run=',
    ',cmt=': ',write=',
    ',gas=': ',fuel=',
    'Min valid version': 'Oldest version',
    'Disk usage:': 'Store share:',
    'rss =': 'memory =',
    'with block_id': 'of id',
  }),
} as const
