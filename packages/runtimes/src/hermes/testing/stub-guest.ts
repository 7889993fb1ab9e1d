/** For tests: the guest daemon's calls, Hermes's gateway and its dashboard, on a loopback address of their own. */
import { dialTo, noCredential } from '@lodge/guest';
import type { Dial } from '@lodge/ports';
import { randomInt } from 'node:crypto';
import { listen, listenDaemon, newDaemon, bodyOf, json, pong, type StubDaemon } from '../../testing/stub-daemon.ts';
import { dashboardPort, dashboardSettingsPath, gatewayPort } from '../config.ts';

/** Events beside the daemon's: `chat <model> <stream|whole>`. */
export interface StubGuest extends StubDaemon {
  readonly address: string;
  readonly dial: Dial;
  readonly credential: () => Promise<null>;
  /** Number of turns in progress. */
  work: number;
  chatStatus: number;
  /** The list of its skills. */
  skills: unknown;
  close(): Promise<void>;
}

export async function startStubGuest(): Promise<StubGuest> {
  const address = `127.${randomInt(1, 255)}.${randomInt(0, 256)}.${randomInt(2, 255)}`;
  const guest: StubGuest = {
    address,
    dial: dialTo(address),
    credential: noCredential,
    ...newDaemon(),
    work: 0,
    chatStatus: 200,
    skills: [],
    async close() {
      for (const server of servers) {
        server.close();
        server.closeAllConnections();
      }
    },
  };
  const servers = [
    await listenDaemon(address, guest),
    await listen(address, gatewayPort, async (request, response) => {
      if (request.url === '/health') return json(response, 200, { status: 'ok', work: guest.work });
      if (request.url === '/v1/skills') return json(response, 200, { object: 'list', data: guest.skills });
      const { model, stream } = JSON.parse(await bodyOf(request)) as { model: string; stream: boolean };
      guest.events.push(`chat ${model} ${stream ? 'stream' : 'whole'}`);
      if (guest.chatStatus === 200) return pong(response, stream);
      return json(response, guest.chatStatus, { error: { message: 'scripted' } });
    }),
    // Like its start script, it serves while its settings are there.
    await listen(address, dashboardPort, async (_request, response) =>
      json(response, guest.files.has(dashboardSettingsPath) ? 200 : 503, {}),
    ),
  ];
  return guest;
}
