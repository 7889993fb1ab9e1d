/**
 * A host with a firewall of its own that drops by default (Docker's, ufw's, firewalld's, an nftables.conf): guests have their broker and the internet all the same,
 * and no more than that; the other firewall's own rules stay as they are, and are whole again after a teardown.
 */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { checkNetwork } from '../../packages/vm/src/qemu/network/index.ts';
import { enterPrivateHost } from '../../packages/vm/src/qemu/network/testing/private-host.ts';
import { startAgent } from './agent.ts';
import { inNamespace, nft } from './shell.ts';
import { tcp } from './places.ts';
import { askFrom } from './prober.ts';
import * as at from './world.ts';

enterPrivateHost(import.meta.filename);

/** `ip filter` as iptables makes it, with Docker's chain; one that rejects at its end, as firewalld does; one that lets through all but one address. */
const others = `
table ip filter {
  chain DOCKER-USER {
  }
  chain INPUT {
    type filter hook input priority filter; policy drop;
    iifname "lo" accept
    ct state established,related accept
  }
  chain FORWARD {
    type filter hook forward priority filter; policy drop;
    jump DOCKER-USER
  }
  chain OUTPUT {
    type filter hook output priority filter; policy drop;
    oifname "lo" accept
    ct state established,related accept
  }
}
table inet ending_in_reject {
  chain forwarding {
    type filter hook forward priority filter + 10; policy accept;
    ct state established,related accept
    reject with icmpx admin-prohibited
  }
}
table inet of_the_operator {
  chain forwarding {
    type filter hook forward priority filter; policy accept;
    ip daddr 8.8.4.4 drop
  }
}
`;

let world: at.World;

before(async () => {
  world = await at.buildWorld();
  await inNamespace('internet', ['ip', 'address', 'add', '8.8.4.4/32', 'dev', 'lo']);
});

const theirs = async (): Promise<string> => {
  const tables = ['ip filter', 'inet ending_in_reject', 'inet of_the_operator'];
  const lists = tables.map((table) => inNamespace(null, ['nft', 'list', 'table', ...table.split(' ')]));
  return (await Promise.all(lists)).join('');
};

test('guests have their broker and the internet beside firewalls that drop by default', async () => {
  await using agent = await startAgent(world, world.a, 1);
  const targets = [tcp('10.0.2.2', at.brokerPort), tcp(at.publicAddress, 80), tcp('10.9.9.9', 80), tcp('8.8.4.4', 80)];
  const reached = async (): Promise<boolean[]> => (await agent.guest.ask(targets)).map(({ answer }) => answer !== null);
  const fact = async () => {
    const facts = await checkNetwork({
      instance: 'a',
      range: '10.201.0.0/16',
      brokerPort: at.brokerPort,
      resolver: at.resolver,
    });
    return facts.find(({ name }) => name === 'other firewalls');
  };
  const fromHost = async (): Promise<boolean> =>
    (await askFrom(null, [tcp(agent.vm.guestAddress, 8080)]))[0]!.answer !== null;

  assert.deepEqual(await reached(), [true, true, false, true]);
  await nft(null, others);
  const untouched = await theirs();
  assert.deepEqual(await reached(), [false, false, false, false], 'the other firewalls do drop');
  assert.equal(await fromHost(), false);
  assert.equal((await fact())?.ok, false);

  await world.a.start();
  assert.deepEqual(await reached(), [true, true, false, false], 'an address that the operator blocks stays blocked');
  assert.equal(await fromHost(), true);
  assert.equal((await fact())?.ok, true);
  const opened = await theirs();
  await world.a.start();
  assert.equal(await theirs(), opened, 'a second start adds nothing');

  await world.a.teardown();
  assert.equal(await theirs(), untouched);
});
