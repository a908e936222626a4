// Where the labels of a map go: beside what they name, and never over another label, a mark or a line.

const GAP = 3;
// The distances from a mark at which a label has its usual places, in pixels, and the directions, the best first.
const DISTANCES = [4, 14, 30];
const DIRECTIONS = [[1, 0], [-1, 0], [0, -1], [0, 1], [1, -1], [-1, -1], [1, 1], [-1, 1]];

function overlap(one, other) {
  return Math.abs(one.x - other.x) < (one.width + other.width) / 2 + GAP &&
    Math.abs(one.y - other.y) < (one.height + other.height) / 2 + GAP;
}

/** Whether a line crosses a box (Liang and Barsky). */
function crosses({ x1, y1, x2, y2 }, box) {
  let [from, to] = [0, 1];
  const [halfWidth, halfHeight] = [box.width / 2 + GAP, box.height / 2 + GAP];
  for (const [step, room] of [[x1 - x2, x1 - box.x + halfWidth], [x2 - x1, box.x + halfWidth - x1],
    [y1 - y2, y1 - box.y + halfHeight], [y2 - y1, box.y + halfHeight - y1]]) {
    if (step === 0 && room < 0) return false;
    if (step < 0) from = Math.max(from, room / step);
    if (step > 0) to = Math.min(to, room / step);
  }
  return from <= to;
}

/**
 * Finds a place for each label, in the order of their importance, and returns the middles; null for one without room.
 *
 * A label has the `x`, `y` and `radius` of its mark, and its own `width` and `height`. One that is `needed` is moved as
 * far as it takes, and one that is `below` goes there, or above.
 */
export function placeLabels(labels, { width, height, marks, lines }) {
  const taken = [...marks];
  const isFree = (box) => box.x - box.width / 2 >= GAP && box.x + box.width / 2 <= width - GAP &&
    box.y - box.height / 2 >= GAP && box.y + box.height / 2 <= height - GAP &&
    !taken.some((each) => overlap(each, box)) && !lines.some((line) => crosses(line, box));
  return labels.map((label) => {
    for (const box of spots(label, width, height)) {
      if (!isFree(box)) continue;
      taken.push(box);
      return box;
    }
    return null;
  });
}

function* spots({ x, y, radius, width, height, needed, below }, areaWidth, areaHeight) {
  if (below) {
    for (const side of [1, -1]) yield { x, y: y + side * (radius + height / 2), width, height };
    return;
  }
  for (const distance of DISTANCES) {
    for (const [across, down] of DIRECTIONS) {
      // Above and below, a label may be beside the middle of its mark, to be within the picture.
      const middle = Math.min(areaWidth - width / 2 - GAP, Math.max(width / 2 + GAP, x));
      yield { x: across ? x + across * (radius + distance + width / 2) : middle, y: y + down * (radius + distance + height / 2), width, height };
    }
  }
  if (!needed) return;
  // Anywhere, the nearest first.
  const all = [];
  for (let top = height / 2 + GAP; top < areaHeight - height / 2; top += height / 4) {
    for (let left = width / 2 + GAP; left < areaWidth - width / 2; left += 12) {
      const [across, down] = [Math.max(0, Math.abs(left - x) - width / 2), Math.max(0, Math.abs(top - y) - height / 2)];
      all.push({ x: left, y: top, width, height, distance: Math.hypot(across, down) });
    }
  }
  yield* all.sort((one, other) => one.distance - other.distance);
}
