import { judgePart } from './seeds.ts';

judgePart(3, 'every law holds in each history of the fourth part');
