/** A start that fails says why in a sentence, and nothing of how the program is made. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Service } from '@lodge/testkit/service';
import { enterPrivateHost } from '../../packages/vm/src/qemu/network/testing/private-host.ts';
import { ip } from '../security/shell.ts';

enterPrivateHost(import.meta.filename);

let service: Service | undefined;
after(() => service?.destroy());

test('a network range that the host uses already ends a start with a sentence that names the setting', async () => {
  await ip(null, 'link add vpn type veth peer name far');
  await ip(null, 'link set vpn up');
  await ip(null, 'route add 10.201.7.0/24 dev vpn');
  const entry = new URL('lodge-with-bare-guests.ts', import.meta.url);
  service = await Service.start({ entry, env: { LODGE_NETWORK_RANGE: '10.201.0.0/16' } });
  await service.ended();
  const lines = service.output.trim().split('\n');
  assert.match(
    lines.at(-1)!,
    /^The range 10\.201\.0\.0\/16 .*\(route .* on vpn\): set LODGE_NETWORK_RANGE to another$/,
  );
  assert.deepEqual(
    lines.filter((line) => /^\s+at |^Node\.js/.test(line)),
    [],
  );
});
