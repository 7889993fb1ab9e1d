/** Connections of agents: the owners' use-cases, and the guests' access. */
import { openConnections as openParts } from '@lodge/connections';
import type { ConnectionOptions, ConnectionParts } from '@lodge/connections';
import { createConnectionDirectory, createConnectionGrants, createConnections } from '@lodge/engine';
import type { Connections, Engine } from '@lodge/engine';
import type { Log, SecretBox } from '@lodge/ports';
import type { Store } from '@lodge/store';
import { logWriter } from '@lodge/store/logs';
import type { Closing } from './closing.ts';
import type { Config } from './config/config.ts';

interface Needs {
  readonly store: Store;
  readonly engine: Engine;
  readonly secrets: SecretBox;
  readonly log: Log;
  readonly oauthBounds?: ConnectionOptions['oauthBounds'];
}

interface Opened {
  readonly connections: Connections;
  readonly doors: { readonly connections: ConnectionParts['door'] };
  /** MCP connections, as tools of their agents. */
  readonly tools: ConnectionParts['tools'];
  readonly clientDocuments: ConnectionParts['clientDocuments'];
}

export function openConnections(
  { connectionAddresses: addresses, egressProxy }: Config,
  { store, engine, secrets, log, oauthBounds }: Needs,
  closing: Closing,
): Opened {
  const anyAddress = addresses === 'any';
  const { database } = store;
  const parts = openParts({
    directory: createConnectionDirectory(database),
    grants: createConnectionGrants(database),
    secrets,
    logs: logWriter(database),
    log,
    addresses,
    egressProxy,
    ...(oauthBounds && { oauthBounds }),
  });
  closing.push(() => parts.close());
  const connections = createConnections({
    database,
    agents: engine.agents,
    consent: parts.consent,
    secrets,
    anyAddress,
  });
  const { door, tools, clientDocuments } = parts;
  return { connections, doors: { connections: door }, tools, clientDocuments };
}
