import { guestProviders } from './config.ts';

/**
 * An agent's auth profiles, in the shape OpenClaw has for them, in its workspace. There is no secret in it: the broker adds
 * the key on the way out. OpenClaw itself has kept credentials in SQLite since 2026.9 and needs none here; at the old place
 * of this file (`agents/<id>/agent/auth-profiles.json` of its state folder) it takes it for one to migrate, and does not
 * start any more.
 */
export const authProfilesName = 'auth-profiles.json';

const marker = 'added-by-the-host';

export const authProfiles = `${JSON.stringify(
  {
    version: 1,
    profiles: Object.fromEntries(
      guestProviders.map((provider) => [`${provider}:default`, { type: 'api_key', provider, key: marker }]),
    ),
  },
  null,
  2,
)}\n`;
