import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AgentUrlSettings } from '../context.ts';
import { hostOf, originOf, viewPort } from './address.ts';

const url: AgentUrlSettings = {
  scheme: 'https',
  domain: 'agents.example.com',
  apiHost: 'lodge.agents.example.com',
  port: null,
  prefixes: { runtime_a: 'openclaw', runtime_b: 'her-mes2' },
};
const id = 'k7d2m9q4x1ab';
const address = { kind: 'runtime_a', id, port: null } as const;

test('an address names its agent again, by whatever spelling browsers may send', () => {
  const all = [
    address,
    { ...address, port: 65_535 },
    { kind: 'runtime_b', id, port: 9119 } as const,
    { ...address, port: viewPort },
  ];
  for (const one of all) {
    const { host } = new URL(originOf(one, { ...url, port: 8443 }));
    for (const header of [host, host.toUpperCase(), host.replace(':', '.:'), host.replace(/:.*/, ':')]) {
      assert.deepEqual(hostOf(header, url), one, header);
    }
  }
  assert.equal(originOf({ ...address, port: 80 }, url), `https://80-openclaw-${id}.agents.example.com`);
});

test("what is not of the agents' domain is the API's, and so is the API's own name in it", () => {
  const hosts = [undefined, '', '127.0.0.1:8080', '[::1]:8080', 'example.com', `openclaw-${id}.example.com`];
  for (const host of [...hosts, 'lodge.agents.example.com', 'LODGE.agents.example.com.:1', 'xagents.example.com']) {
    assert.equal(hostOf(host, url), 'api', host);
  }
});

test('a name of the domain that is not exactly an address is nobody, and never the API', () => {
  const labels = [
    'openclaw',
    `openclaw-${id}x`,
    `openclaw-${id.slice(1)}`,
    `openclaw--${id}`,
    `-openclaw-${id}`,
    `hermes-${id}`,
    `browser-${id}`,
    `browser-hermes-${id}`,
    `80-browser-openclaw-${id}`,
    `browser-browser-openclaw-${id}`,
    `0-openclaw-${id}`,
    `080-openclaw-${id}`,
    `65536-openclaw-${id}`,
    `99999999-openclaw-${id}`,
    `80-80-openclaw-${id}`,
    `+80-openclaw-${id}`,
    `openclaw-${id}.openclaw-${id}`,
    `x.openclaw-${id}`,
    `openclaw_${id}`,
    `openclaw-${id}\u0000`,
    `lodge@openclaw-${id}`,
    '',
  ];
  for (const label of labels) assert.equal(hostOf(`${label}.agents.example.com:8080`, url), 'nobody', label);
  assert.equal(hostOf('agents.example.com', url), 'nobody');
});
