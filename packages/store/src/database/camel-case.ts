import { CamelCasePlugin } from 'kysely';

/** Names columns in camel case. Keys of JSON are values, and stay as they are. */
export const camelCase = new CamelCasePlugin({ maintainNestedObjectKeys: true });
