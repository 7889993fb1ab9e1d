/** The services for agents at the broker's address beside models: their tools, and their connections. */
import type { Doors } from '@lodge/broker';
import { createAgentTools, createSchedules } from '@lodge/engine';
import type { ConnectionOptions, ConnectionParts } from '@lodge/connections';
import type { ChannelParts, Engine } from '@lodge/engine';
import type { Log, SecretBox } from '@lodge/ports';
import type { Store } from '@lodge/store';
import type { Closing } from './closing.ts';
import type { Config } from './config/config.ts';
import { openConnections } from './connections.ts';
import { createToolsDoor } from './guest-tools/door.ts';
import { version } from './version.ts';

interface Needs {
  readonly store: Store;
  readonly engine: Engine;
  readonly channels: ChannelParts;
  readonly secrets: SecretBox;
  readonly log: Log;
  readonly oauthBounds?: ConnectionOptions['oauthBounds'];
}

interface Opened extends Pick<ConnectionParts, 'tools' | 'consent' | 'clientDocuments'> {
  readonly doors: Doors;
}

export function openGuestDoors(config: Config, needs: Needs, closing: Closing): Opened {
  const { store, engine, channels, log } = needs;
  const { door: connections, tools, ...parts } = openConnections(config, needs, closing);
  const agentTools = createAgentTools({
    sources: [tools],
    agents: engine.agents,
    runTurn: engine.runTurn,
    askedTurns: (agentId) => engine.askedTurns(agentId),
    database: store.database,
    channels: store.channels,
    files: channels.files,
    guestFiles: channels.guestFiles,
    spend: store.spend,
    schedules: createSchedules({ database: store.database, agents: engine.agents }),
    log,
  });
  return { ...parts, doors: { connections, mcp: createToolsDoor(agentTools, version) }, tools };
}
