import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { test } from 'node:test';
import dnsPacket from 'dns-packet';
import { NameServers } from './name-servers.ts';
import { rcodes } from './message.ts';

/** A name server that answers every name except those that begin with `slow`. */
async function nameServer(): Promise<{ readonly at: string; readonly close: () => void }> {
  const socket = createSocket('udp4');
  socket.on('message', (packet, { address, port }) => {
    const { id, questions } = dnsPacket.decode(packet);
    const { name } = questions![0]!;
    if (name.startsWith('slow')) return;
    const answers = [{ type: 'A', name, data: '23.1.1.1', ttl: 60 }] as const;
    socket.send(
      dnsPacket.encode({ type: 'response', id: id!, questions: questions!, answers: [...answers] }),
      port,
      address,
    );
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { at: `127.0.0.1:${socket.address().port}`, close: () => socket.close() };
}

test('guests that ask for many slow names leave places to those that ask for one', async () => {
  const server = await nameServer();
  const names = new NameServers([server.at]);
  const slow = Array.from({ length: 256 }, (_, i) => names.addressesOf(`slow${i}.example`, { isAlone: false }));
  const among = await names.addressesOf('among.example', { isAlone: false });
  assert.equal(among.rcode, rcodes.failed);
  const alone = await names.addressesOf('alone.example', { isAlone: true });
  assert.deepEqual([alone.rcode, alone.addresses.length], [rcodes.ok, 1]);
  await Promise.all(slow);
  assert.equal((await names.addressesOf('later.example', { isAlone: false })).rcode, rcodes.ok);
  server.close();
});
