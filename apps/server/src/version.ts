import packageJson from '../package.json' with { type: 'json' };

/** Version of Lodge. */
export const version: string = packageJson.version;
