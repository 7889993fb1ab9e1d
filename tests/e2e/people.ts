/** People who are signed in to a world, as their browsers would ask it. */
import { randomBytes } from 'node:crypto';
import { cryptography } from '@lodge/access';
import { createOwnerLink } from '@lodge/engine';
import type { OpenedSession } from '@lodge/engine';
import { send } from './api/world.ts';
import type { Answer, World } from './api/world.ts';

const password = 'correct horse battery staple';
const caller = { address: '10.1.2.3', userAgent: null, requestId: 'test' };

/** Somebody with a session: `headers` are what a page of the service sends with every change. */
export class Person {
  readonly world: World;
  readonly token: string;
  readonly accountId: string;

  constructor(world: World, { token, account }: OpenedSession) {
    this.world = world;
    this.token = token;
    this.accountId = account.id;
  }

  get cookie(): string {
    return `lodge_session=${this.token}`;
  }

  get headers(): Record<string, string> {
    const csrf = this.world.accounts.csrfToken(this.token);
    return { cookie: this.cookie, origin: this.world.origin, 'x-csrf-token': csrf };
  }

  call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const own = method === 'GET' ? { cookie: this.cookie } : this.headers;
    return send(this.world.url, method, `/v1${path}`, {
      headers: { ...own, ...headers },
      ...(body !== undefined && { body }),
    });
  }

  async signOut(): Promise<void> {
    await this.call('POST', '/account/sign-out', {});
  }
}

/** Makes the world's first account, which its keys belong to, somebody's. */
export async function ownerOf(world: World): Promise<Person> {
  const token = await createOwnerLink(world.store.database, cryptography.tokens);
  const person = { email: 'owner@example.com', name: 'Ada', password };
  return new Person(world, await world.accounts.setUp({ ...person, token }, caller));
}

/** The same person in another browser. */
export async function again(world: World): Promise<Person> {
  return new Person(world, await world.accounts.signIn({ email: 'owner@example.com', password }, caller));
}

/** Somebody new with an account of their own. */
export async function invited(owner: Person, role: 'member' | 'viewer'): Promise<Person> {
  const { world } = owner;
  const { url } = (await owner.call('POST', '/account/invitations', { role })).body as { url: string };
  const token = /#token=([\w-]+)$/.exec(url)![1]!;
  const person = { email: `${randomBytes(4).toString('hex')}@example.com`, name: 'Bo', password };
  return new Person(world, await world.accounts.acceptInvitation({ ...person, token }, caller));
}
