/** The services for agents at the broker's address beside models: their tools, and their connections. */
import type { Doors, TlsDoor } from '@lodge/broker';
import { authorityMaker, openConnections } from '@lodge/connections';
import type { ConnectionOptions, ConnectionParts } from '@lodge/connections';
import {
  createAgentTools,
  createConnectionDirectory,
  createConnectionGrants,
  createFindAuthority,
  createSchedules,
} from '@lodge/engine';
import type { ChannelParts, Engine, FindAuthority, Spend } from '@lodge/engine';
import type { Log, SecretBox } from '@lodge/ports';
import type { Store } from '@lodge/store';
import { logWriter } from '@lodge/store/logs';
import type { Closing } from './closing.ts';
import type { Config } from './config/config.ts';
import { publicUrl } from './config/public-url.ts';
import { createConfirmDoor } from './guest-tools/confirm-door.ts';
import { createToolsDoor } from './guest-tools/door.ts';
import { version } from './version.ts';

interface Needs {
  readonly store: Store;
  readonly engine: Engine;
  readonly spend: Spend;
  readonly channels: ChannelParts;
  readonly secrets: SecretBox;
  readonly log: Log;
  readonly oauthBounds?: ConnectionOptions['oauthBounds'];
}

interface Opened extends Pick<ConnectionParts, 'tools' | 'consent' | 'clientDocuments'> {
  readonly tlsDoor: TlsDoor;
  readonly authority: FindAuthority;
  readonly doors: Doors;
}

export function openGuestDoors(config: Config, needs: Needs, closing: Closing): Opened {
  const { store, engine, spend, channels, secrets, log, oauthBounds } = needs;
  const { database } = store;
  const authority = createFindAuthority({ database, secrets, maker: authorityMaker });
  const connections = openConnections({
    authority,
    directory: createConnectionDirectory(database),
    grants: createConnectionGrants(database),
    secrets,
    logs: logWriter(database),
    log,
    guard: engine.asking,
    addresses: config.connectionAddresses,
    egressProxy: config.egressProxy,
    ...(oauthBounds && { oauthBounds }),
  });
  closing.push(() => connections.close());
  const { door, hostDoor: tlsDoor, tools, consent, clientDocuments } = connections;
  const agentTools = createAgentTools({
    sources: [tools],
    agents: engine.agents,
    runTurn: engine.runTurn,
    askedTurns: (agentId) => engine.askedTurns(agentId),
    database,
    files: channels.files,
    guestFiles: channels.guestFiles,
    spend,
    schedules: createSchedules({ database, agents: engine.agents }),
    guard: engine.asking,
    dashboardUrl: publicUrl(config).origin,
    log,
  });
  engine.makeCallsBy((agent, call, signal) =>
    (call.kind === 'tool' ? agentTools : connections).make(agent, call, signal),
  );
  const doors = {
    connections: door,
    mcp: createToolsDoor(agentTools, version),
    confirm: createConfirmDoor(engine.asking),
  };
  return { tlsDoor, authority, tools, consent, clientDocuments, doors };
}
