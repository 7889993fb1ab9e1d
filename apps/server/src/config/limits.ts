/** Settings of how clients reach the API and how much they may ask of it. */
import { defaultSnapshotGib } from '@lodge/domain';
import { file, integer, optional, required } from '@lodge/ports/settings';
import { addressRanges, origins } from './values.ts';

const perMinute = (name: string, fallback: string, description: string) =>
  required(name, 'number a minute, 1..1000000', fallback, description, integer(1, 1_000_000));

export const limitSettings = {
  maxAgents: required(
    'LODGE_MAX_AGENTS',
    'number, 1..16384',
    '100',
    'Most agents an account may have.',
    integer(1, 2 ** 14),
  ),
  maxRunning: required(
    'LODGE_MAX_RUNNING',
    'number, 1..16384',
    '20',
    'Most agents of an account that run at once; paused and stopped ones do not count.',
    integer(1, 2 ** 14),
  ),
  maxImportMib: required(
    'LODGE_MAX_IMPORT_MIB',
    'MiB, 1..1048576',
    '2048',
    'Largest file from which an agent is imported. The host needs room for it until the agent runs.',
    integer(1, 1_048_576),
  ),
  maxSnapshotGib: required(
    'LODGE_MAX_SNAPSHOT_GIB',
    'GiB, 1..1000000',
    String(defaultSnapshotGib),
    'Most GiB that the snapshots of an account hold; an agent may have 50.',
    integer(1, 1_000_000),
  ),
  rateReads: perMinute('LODGE_RATE_READS', '600', 'Requests that only read, of one API key.'),
  rateWrites: perMinute('LODGE_RATE_WRITES', '120', 'Requests that change something, of one API key.'),
  rateCreates: perMinute('LODGE_RATE_CREATES', '30', 'Creates of agents, of one API key.'),
  createsAtOnce: required(
    'LODGE_CREATES_AT_ONCE',
    'number, 1..1000',
    '5',
    'Creates that one API key may be waiting for at once.',
    integer(1, 1000),
  ),
  rateCalls: perMinute('LODGE_RATE_CALLS', '600', 'Chats, commands and file requests, of one API key.'),
  rateAddress: perMinute(
    'LODGE_RATE_ADDRESS',
    '60',
    'Requests without a valid API key, of one address. Ten times as many for pages and their files.',
  ),
  maxConnections: required(
    'LODGE_MAX_CONNECTIONS',
    'number, 10..1000000',
    '10000',
    'Most connections the API has open; further ones are closed at once. The last quarter is for networks that hold few.',
    integer(10, 1_000_000),
  ),
  maxOfNetwork: optional(
    'LODGE_MAX_CONNECTIONS_OF_NETWORK',
    'number, 1..1000000',
    'a quarter of LODGE_MAX_CONNECTIONS',
    'Most of them from one network: an IPv4 address, or the /64 of an IPv6 one. Those of trusted proxies are not counted so.',
    integer(1, 1_000_000),
  ),
  trustedProxies: required(
    'LODGE_TRUSTED_PROXIES',
    'addresses and ranges, parted by commas',
    '',
    "Proxies whose `X-Forwarded-For` names the client. Everyone else's header is ignored. Their connections may be all that there are.",
    addressRanges,
  ),
  corsOrigins: required(
    'LODGE_CORS_ORIGINS',
    'origins, parted by commas',
    '',
    'Web pages of these origins may call the API from browsers; by default none.',
    origins,
  ),
  tlsCert: optional(
    'LODGE_TLS_CERT',
    'absolute path',
    'plain HTTP',
    'Certificate chain in PEM: the API then answers over HTTPS itself. Read once at start.',
    file,
  ),
  tlsKey: optional('LODGE_TLS_KEY', 'absolute path', 'plain HTTP', 'Private key of LODGE_TLS_CERT, in PEM.', file),
} as const;
