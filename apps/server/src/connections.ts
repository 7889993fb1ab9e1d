/** The guests' access to connections, and the consents that their owners give. */
import { openConnections as openParts } from '@lodge/connections';
import type { ConnectionOptions, ConnectionParts } from '@lodge/connections';
import { createConnectionDirectory, createConnectionGrants } from '@lodge/engine';
import type { Log, SecretBox } from '@lodge/ports';
import type { Store } from '@lodge/store';
import { logWriter } from '@lodge/store/logs';
import type { Closing } from './closing.ts';
import type { Config } from './config/config.ts';

interface Needs {
  readonly store: Store;
  readonly secrets: SecretBox;
  readonly log: Log;
  readonly oauthBounds?: ConnectionOptions['oauthBounds'];
}

export function openConnections(
  { connectionAddresses: addresses, egressProxy }: Config,
  { store, secrets, log, oauthBounds }: Needs,
  closing: Closing,
): ConnectionParts {
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
  return parts;
}
