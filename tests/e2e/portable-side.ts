/** One Lodge of those that an agent moves between, with a fake host of guests that have real folders. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OpenedLodge } from '@lodge/testkit/lodge';
import { openLodge } from '@lodge/testkit/lodge';
import { TreeGuests, treeData } from '@lodge/testkit/tree-guests';
import { FakeHost } from '@lodge/vm/fake';
import { guestRuntime, noTroubles } from '../../packages/testkit/src/plane/guest-runtime.ts';
import type { GuestTroubles } from '../../packages/testkit/src/plane/guest-runtime.ts';

/** A Lodge with guests that have folders. */
export class Side {
  readonly lodge: OpenedLodge;
  readonly guests: TreeGuests;
  readonly troubles: GuestTroubles;
  private readonly key: string;
  readonly data: string;
  constructor(lodge: OpenedLodge, guests: TreeGuests, troubles: GuestTroubles, data: string) {
    this.data = data;
    this.lodge = lodge;
    this.guests = guests;
    this.troubles = troubles;
    this.key = lodge.firstKey!.plaintext;
  }

  static async open(): Promise<Side> {
    const host = new FakeHost();
    const guests = await TreeGuests.open(host);
    const troubles = noTroubles();
    const runtime = { ...guestRuntime(host, troubles), version: '2026.9.6', data: treeData };
    const data = await mkdtemp(join(tmpdir(), 'lodge-data-'));
    const lodge = await openLodge({
      host,
      guestAt: guests.guestAt,
      runtimes: new Map([['runtime_a', runtime]]),
      settings: { LODGE_MAX_IMPORT_MIB: '4', LODGE_DATA_DIR: data },
    });
    return new Side(lodge, guests, troubles, data);
  }

  async close(): Promise<void> {
    await this.lodge.close();
    await this.guests.close();
    await rm(this.data, { recursive: true, force: true });
  }

  async ask(method: string, path: string, body?: object | Buffer, headers: Readonly<Record<string, string>> = {}) {
    const isBytes = Buffer.isBuffer(body);
    const sent = isBytes ? new Uint8Array(body) : body && JSON.stringify(body);
    const reply = await fetch(`${this.lodge.baseUrl}${path}`, {
      method,
      headers: { 'x-api-key': this.key, ...(sent && !isBytes && { 'content-type': 'application/json' }), ...headers },
      ...(sent && { body: sent }),
    });
    const bytes = Buffer.from(await reply.arrayBuffer());
    const isJson = reply.headers.get('content-type')?.startsWith('application/json') ?? false;
    return { status: reply.status, headers: reply.headers, bytes, json: isJson ? JSON.parse(bytes.toString()) : null };
  }

  async made(method: string, path: string, body: object) {
    const answer = await this.ask(method, path, body);
    assert.ok(answer.status < 300, answer.bytes.toString());
    return answer.json;
  }

  async export(id: string, body: object = {}): Promise<Buffer> {
    const answer = await this.ask('POST', `/agents/${id}/export`, body);
    assert.equal(answer.status, 200, answer.bytes.toString().slice(0, 500));
    return answer.bytes;
  }

  import(file: Buffer, headers: Readonly<Record<string, string>> = {}, query = '') {
    return this.ask('POST', `/agents/import${query}`, file, headers);
  }

  /** Imports whose agents run, and whose files the next round of the keeper removes. */
  kept = 0;

  get imports(): string {
    return join(this.data, 'control-plane', 'imports');
  }

  /** Asserts that the file is refused, and that nothing is made of it. */
  async refuses(
    packed: Buffer,
    about: RegExp,
    headers: Readonly<Record<string, string>> = {},
    code: 'invalid_request' | 'request_too_large' = 'invalid_request',
  ): Promise<void> {
    const count = async () => (await this.ask('GET', '/agents?limit=100')).json.data.length;
    const before = await count();
    const answer = await this.import(packed, headers);
    const status = code === 'invalid_request' ? 400 : 413;
    assert.deepEqual([answer.status, answer.json?.error?.code], [status, code], answer.bytes.toString());
    assert.match(answer.json.error.message, about);
    assert.equal(await count(), before);
    assert.equal(readdirSync(this.imports).length, this.kept, 'nothing of it is left');
  }

  async folder(id: string): Promise<string> {
    return this.guests.folderOf(id);
  }
}
