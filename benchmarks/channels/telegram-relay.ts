/** Measures idle Telegram bots in one relay as a server starts it: over TLS, with real Postgres and the usual timings. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ChannelsWorld } from '../../tests/failure/channels-world.ts';
import { useOf } from './process-use.ts';
import { startTlsFront } from './tls-front.ts';

export interface RelayFigures {
  readonly bots: number;
  /** Memory before the first channel is held. */
  readonly emptyMib: number;
  readonly rssMib: number;
  readonly peakMib: number;
  readonly cpuPercent: number;
}

const settleMs = 70_000;
const measuredMs = 60_000;

export async function telegramRelay(bots: number): Promise<RelayFigures> {
  const world = await ChannelsWorld.start(0);
  const front = await startTlsFront(world.telegram.apiRoot);
  process.env['NODE_EXTRA_CA_CERTS'] = front.certificateFile;
  const relays = await world.relaysOfServer(front.url);
  try {
    const first = world.telegram.bot();
    await relays.check.verify('telegram', { botToken: first.token }, AbortSignal.timeout(60_000));
    const pid = relays.pids[0]!;
    const empty = await useOf(pid);
    for (let n = 0; n < bots; n += 1) world.talkers.push(await world.addAgent());
    // Between two polls a bot has none for a moment, so there is hardly an instant at which all have one.
    const unpolled = new Set(world.talkers);
    while (unpolled.size > 0) {
      for (const talker of unpolled) if (talker.bot.isPolled) unpolled.delete(talker);
      await sleep(100);
    }
    await sleep(settleMs);
    const before = await useOf(pid);
    await sleep(measuredMs);
    const after = await useOf(pid);
    const held = world.talkers.filter(({ bot }) => bot.requests > 0).length;
    if (held < bots || relays.pids[0] !== pid) throw new Error('the relay did not hold all bots all the time');
    return {
      bots,
      emptyMib: empty.rssMib,
      rssMib: after.rssMib,
      peakMib: after.peakMib,
      cpuPercent: ((after.cpuMs - before.cpuMs) / measuredMs) * 100,
    };
  } finally {
    delete process.env['NODE_EXTRA_CA_CERTS'];
    await relays.close();
    await world.close();
    await front.close();
  }
}
