// Paints a map with one call for any number of cells: tiles are layers of a texture array, and squares of several cells have another.
const CORNERS = `#version 300 es
void main() { gl_Position = vec4(vec2((gl_VertexID << 1) & 2, gl_VertexID & 2) * 2.0 - 1.0, 0.0, 1.0); }`;

const COLOURS = `#version 300 es
precision highp float; precision highp int; precision highp isampler2DArray; precision highp isampler2D;
uniform isampler2DArray released, truth;
uniform isampler2D releasedIndex, truthIndex;
uniform sampler2D palette;
uniform vec4 ground;
uniform vec2 origin, step;   // the place of the corner in squares, and how far it is from one pixel to the next
uniform ivec2 extent;        // squares of the map: columns, rows
uniform int bits, steps;  // tiles of this level have 2 ** bits squares a side
uniform float split;         // pixels left of it show the first layer
uniform ivec4 firstKind, secondKind;   // mode, palette above 0, palette below 0, whether logarithmic
uniform vec3 firstScale, secondScale;  // the largest amount, half an interval, shades to its share or to its logarithm
out vec4 colour;

int valueOf(isampler2DArray cells, isampler2D tiles, ivec2 place) {
  int layer = texelFetch(tiles, place >> bits, 0).r;
  return layer < 0 ? 0 : texelFetch(cells, ivec3(place & ((1 << bits) - 1), layer), 0).r;
}

void main() {
  ivec2 place = ivec2(floor(origin + gl_FragCoord.xy * step));
  colour = ground;
  if (any(lessThan(place, ivec2(0))) || any(greaterThanEqual(place, extent))) return;
  bool isFirst = gl_FragCoord.x < split;
  ivec4 kind = isFirst ? firstKind : secondKind;
  vec3 scale = isFirst ? firstScale : secondScale;
  float amount = 0.0;
  if (kind.x == 1) amount = float(valueOf(truth, truthIndex, place));
  else {
    int value = valueOf(released, releasedIndex, place);
    if (kind.x == 0) amount = float(value);
    else if (kind.x == 3) amount = float(value - valueOf(truth, truthIndex, place));
    else amount = value > 0 ? min(100.0 * scale.y / float(value), 100.0) : 0.0;
  }
  if (amount == 0.0) return;
  float part = min(abs(amount), scale.x);
  float shades = (kind.w == 1 ? log(1.0 + part) : part) * scale.z;
  int shade = clamp(int(ceil(shades - 0.001)), 1, steps);
  colour = texelFetch(palette, ivec2(shade, amount > 0.0 ? kind.y : kind.z), 0);
}`;

export class WebglPainter {
  // None where there is no WebGL2, or only one without a graphics card, unless that one is accepted.
  static make(canvas, about, acceptsSoftware = true) {
    const wishes = { alpha: false, antialias: false, depth: false, stencil: false, powerPreference: "low-power" };
    const gl = canvas.getContext("webgl2", { ...wishes, failIfMajorPerformanceCaveat: !acceptsSoftware });
    return gl && (acceptsSoftware || !isSoftware(gl)) ? new WebglPainter(gl, about) : null;
  }

  constructor(gl, about) {
    this.gl = gl;
    this.about = about;
    const program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, CORNERS], [gl.FRAGMENT_SHADER, COLOURS]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
    gl.useProgram(program);
    const places = new Map();
    this.at = (name) => {
      if (!places.has(name)) places.set(name, gl.getUniformLocation(program, name));
      return places.get(name);
    };
    ["released", "truth", "releasedIndex", "truthIndex", "palette"].forEach((name, unit) => gl.uniform1i(this.at(name), unit));
    gl.bindVertexArray(gl.createVertexArray());
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    this.layers = [null, null];
    this.setCells(1, null);
  }

  // The cells of the released layer (0) or of the true one (1); none makes an empty one.
  setCells(which, cells) {
    const gl = this.gl;
    const old = this.layers[which];
    if (old) [old.index, ...old.textures].forEach((texture) => gl.deleteTexture(texture));
    const given = cells ?? { side: 1, count: 1, down: 1, across: 1, levels: [null], index: new Int32Array([-1]), at: () => new Int32Array(1) };
    const made = { given, index: gl.createTexture(), textures: given.levels.map(() => null) };
    gl.activeTexture(gl.TEXTURE2 + which);
    gl.bindTexture(gl.TEXTURE_2D, made.index);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.R32I, given.across, given.down, 0, gl.RED_INTEGER, gl.INT, given.index);
    plain(gl, gl.TEXTURE_2D);
    this.layers[which] = made;
  }

  setPalette(bytes) {
    const gl = this.gl;
    gl.activeTexture(gl.TEXTURE4);
    gl.bindTexture(gl.TEXTURE_2D, this.palette ??= gl.createTexture());
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, bytes.length / 1024, 0, gl.RGBA, gl.UNSIGNED_BYTE, bytes);
    plain(gl, gl.TEXTURE_2D);
    gl.uniform4f(this.at("ground"), ...[...bytes.subarray(0, 4)].map((part) => part / 255));
  }

  // The squares of a level go to the graphics memory when they are first looked at: a texture array, with a layer for each tile.
  show(which, level) {
    const { gl } = this;
    const { given, textures } = this.layers[which];
    const shown = Math.min(level, textures.length - 1);
    const isNew = textures[shown] === null;
    if (isNew) textures[shown] = gl.createTexture();
    gl.activeTexture(gl.TEXTURE0 + which);
    gl.bindTexture(gl.TEXTURE_2D_ARRAY, textures[shown]);
    if (!isNew) return;
    const size = given.side >> shown;
    gl.texImage3D(gl.TEXTURE_2D_ARRAY, 0, gl.R32I, size, size, Math.max(given.count, 1), 0, gl.RED_INTEGER, gl.INT, given.at(shown));
    plain(gl, gl.TEXTURE_2D_ARRAY);
  }

  paint({ level, origin, step, split, first, second, width, height }) {
    const { gl, about } = this;
    if (gl.isContextLost()) return;
    for (const which of [0, 1]) this.show(which, level);
    const squares = (cells) => Math.ceil(Math.ceil(cells / about.block) / 2 ** level);
    gl.viewport(0, 0, width, height);
    gl.uniform2f(this.at("origin"), ...origin);
    gl.uniform2f(this.at("step"), ...step);
    gl.uniform2i(this.at("extent"), squares(about.columns), squares(about.rows));
    gl.uniform1i(this.at("bits"), Math.log2(this.layers[0].given.side) - level);
    gl.uniform1i(this.at("steps"), about.steps);
    gl.uniform1f(this.at("split"), split);
    for (const [name, layer] of [["first", first], ["second", second]]) {
      gl.uniform4i(this.at(`${name}Kind`), layer.mode, ...layer.rows, layer.isLogarithmic ? 1 : 0);
      gl.uniform3f(this.at(`${name}Scale`), layer.most, layer.half ?? 0, about.steps / (layer.isLogarithmic ? Math.log(1 + layer.most) : layer.most));
    }
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }
}

function isSoftware(gl) {
  const named = gl.getExtension("WEBGL_debug_renderer_info");
  return /swiftshader|llvmpipe|softpipe|basic render|software/i.test(gl.getParameter(named ? named.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
}

function plain(gl, kind) {
  for (const name of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(kind, name, gl.NEAREST);
}
