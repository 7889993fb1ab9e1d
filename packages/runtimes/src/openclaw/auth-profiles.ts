import { guestProviders } from './config.ts';

/**
 * An agent's auth profiles, in OpenClaw's form, in its workspace. They contain no secret, because the broker adds the key on
 * the way out. OpenClaw itself has kept credentials in SQLite since 2026.9 and needs none here. At this file's old place
 * (`agents/<id>/agent/auth-profiles.json` of its state folder) OpenClaw would try to migrate it and fail to start.
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
