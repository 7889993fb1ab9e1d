/** A relay process of a product that has this platform. */
import { edit } from '../edits.ts';
import { platformEdits } from './edits.ts';

edit(platformEdits);
await import('../../../../apps/server/src/relay/main.ts');
