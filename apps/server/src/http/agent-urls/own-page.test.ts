/** Requests with a visit's cookie count if they come from the agent's own pages, or go there. */
import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { isOfOwnPage } from './admission.ts';

const host = 'openclaw-abcdefghijkl.agents.lan:8080';
const own = `http://${host}`;
const other = 'http://3000-openclaw-mnopqrstuvwx.agents.lan:8080';

/** [counts, method, headers]. Over plain http, browsers send no Sec-Fetch-Site to a host name of a network. */
const cases: readonly (readonly [boolean, string, Record<string, string>])[] = [
  // Requests of browsers for a typed address, a followed link, and a form sent by GET.
  [true, 'GET', { 'upgrade-insecure-requests': '1' }],
  [true, 'GET', { 'upgrade-insecure-requests': '1', referer: `${other}/` }],
  // Requests that the agent's own page embeds or fetches.
  [true, 'GET', { referer: `${own}/page` }],
  [true, 'HEAD', { referer: `${own}/` }],
  [true, 'GET', { origin: own }],
  [true, 'POST', { origin: own }],
  // Requests that another page embeds: an image, a script, a fetch without CORS, with its referrer or without.
  [false, 'GET', {}],
  [false, 'GET', { accept: 'text/html' }],
  [false, 'GET', { referer: `${other}/` }],
  [false, 'GET', { referer: 'http://evil.example/' }],
  [false, 'GET', { referer: `http://evil.example/?${own}` }],
  [false, 'GET', { referer: 'not a url' }],
  [false, 'GET', { origin: other, referer: `${own}/` }],
  [false, 'GET', { origin: 'null', 'upgrade-insecure-requests': '1' }],
  // A change needs Origin.
  [false, 'POST', { referer: `${own}/`, 'upgrade-insecure-requests': '1' }],
  [false, 'DELETE', { referer: `${own}/` }],
  // If Sec-Fetch-Site is sent, it decides.
  [false, 'GET', { 'sec-fetch-site': 'same-site', referer: `${own}/`, 'upgrade-insecure-requests': '1' }],
  [true, 'GET', { 'sec-fetch-site': 'none' }],
];

test('without Sec-Fetch-Site a cookie counts for own pages and for navigations, never for what others embed', () => {
  for (const [counts, method, headers] of cases) {
    const request = { method, headers: { host, ...headers } } as unknown as IncomingMessage;
    assert.equal(isOfOwnPage(request, false), counts, `${method} ${JSON.stringify(headers)}`);
  }
});

test('a WebSocket takes an origin, whatever else is sent', () => {
  const request = { method: 'GET', headers: { host, referer: `${own}/`, 'upgrade-insecure-requests': '1' } };
  assert.equal(isOfOwnPage(request as unknown as IncomingMessage, true), false);
});
