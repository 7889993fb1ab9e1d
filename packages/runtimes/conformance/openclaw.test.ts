import { openclaw } from './subjects.ts';
import { conform } from './suite.ts';

conform(openclaw);
