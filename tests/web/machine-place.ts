/** A signed-in browser at the pages of one agent, whose machine is the real guest daemon on a folder of this host. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Lodge } from '@lodge/sdk';
import type { Browser, Page } from 'playwright-core';
import { openWorld } from '../e2e/api/world.ts';
import type { World } from '../e2e/api/world.ts';
import { ownerOf } from '../e2e/people.ts';
import type { Person } from '../e2e/people.ts';
import { launch, openBrowser } from './browser.ts';
import { buildPages } from './place.ts';

export interface MachinePlace {
  readonly world: World;
  readonly owner: Person;
  /** Speaks for the same account, as another program would. */
  readonly lodge: Lodge;
  readonly agentId: string;
  readonly browser: Browser;
  readonly page: Page;
  /** The things that pages did and must not do. */
  readonly faults: string[];
  /** Addresses of other servers that a page asked for. */
  readonly strangers: string[];
  /** The address of a page of the agent. */
  at(path: string): string;
  /** Another browser of somebody. */
  as(person: Person): Promise<Page>;
  /** The path on this host of a file in the agent's workspace. */
  inGuest(path: string): string;
  readGuest(path: string): Promise<string>;
  writeGuest(path: string, text: string): Promise<void>;
  close(): Promise<void>;
}

export async function openMachinePlace(): Promise<MachinePlace> {
  await buildPages();
  const world = await openWorld({ withGuest: true });
  const lodge = new Lodge({ baseUrl: world.url, apiKey: world.key });
  const { id: agentId } = await lodge.agents.create({ name: 'Fern' });
  await lodge.agents.waitUntil(agentId, 'running');
  const owner = await ownerOf(world);
  const browser = await launch(Number(new URL(world.url).port));
  const faults: string[] = [];
  const strangers: string[] = [];
  const as = async (person: Person): Promise<Page> => {
    const page = await openBrowser(browser, faults);
    const cookie = { name: 'lodge_session', value: person.token, url: world.origin, httpOnly: true } as const;
    await page.context().addCookies([{ ...cookie, sameSite: 'Lax' }]);
    page.context().on('request', (request) => {
      const { protocol, origin } = new URL(request.url());
      if (protocol.startsWith('http') && origin !== world.origin) strangers.push(request.url());
    });
    return page;
  };
  const page = await as(owner);
  const inGuest = (path: string): string => join(world.guest?.root ?? '', 'workspace', path);
  return {
    world,
    owner,
    lodge,
    agentId,
    browser,
    page,
    faults,
    strangers,
    at: (path) => `${world.origin}/agents/${agentId}/${path}`,
    as,
    inGuest,
    readGuest: (path) => readFile(inGuest(path), 'utf8'),
    writeGuest: (path, text) => writeFile(inGuest(path), text),
    async close() {
      await browser.close();
      await world.close();
    },
  };
}
